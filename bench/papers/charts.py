"""Line charts as SVG, with a logarithmic axis, and nothing from outside."""

import math
from xml.sax.saxutils import escape

PLOT, HEIGHT, LEFT, TOP, BOTTOM = 370, 300, 60, 34, 48
LEAST_KEY, OF_A_LETTER = 210, 6.3  # width of the names beside the plot
COLOURS = ("#1f6feb", "#d1242f", "#8250df", "#9a6700", "#1a7f37", "#57606a", "#bf3989", "#0a7b83")


def chart(title, axis, unit, labels, series):
    """`series`: name → a value or None for each label."""
    values = [v for row in series.values() for v in row if v is not None and v > 0]
    if not values:
        return None
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    high = max(high, low + 1)
    wide, tall = PLOT, HEIGHT - TOP - BOTTOM
    width = round(LEFT + wide + max(LEAST_KEY, 34 + OF_A_LETTER * max(map(len, series))))
    assert len(series) <= len(COLOURS), "two lines of one colour"

    def x(i):
        return LEFT + wide * (i + 0.5) / len(labels)

    def y(value):
        return TOP + tall * (1 - (math.log10(value) - low) / (high - low))

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{HEIGHT}" '
           f'viewBox="0 0 {width} {HEIGHT}" font-family="sans-serif" font-size="11">',
           f'<rect width="{width}" height="{HEIGHT}" fill="white"/>',
           f'<text x="{LEFT}" y="18" font-size="13">{escape(title)}</text>']
    for power in range(low, high + 1):
        at = y(10.0 ** power)
        out.append(f'<path d="M{LEFT} {at:.1f}H{LEFT + wide}" stroke="#d0d7de"/>'
                   f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{10.0 ** power:g}</text>')
    out.append(f'<text x="14" y="{TOP + tall / 2}" transform="rotate(-90 14 {TOP + tall / 2})" '
               f'text-anchor="middle">{escape(unit)}</text>')
    for i, label in enumerate(labels):
        out.append(f'<text x="{x(i):.1f}" y="{TOP + tall + 16}" text-anchor="middle" '
                   f'font-size="{9 if len(labels) > 6 or len(label) > 9 else 11}">{escape(label)}</text>')
    out.append(f'<text x="{LEFT + wide / 2}" y="{HEIGHT - 12}" text-anchor="middle">{escape(axis)}</text>')
    for number, (name, row) in enumerate(series.items()):
        colour = COLOURS[number]
        points = [(x(i), y(v)) for i, v in enumerate(row) if v is not None and v > 0]
        if len(points) > 1:
            path = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
            out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        out += [f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3" fill="{colour}"/>' for px, py in points]
        at = TOP + 8 + 16 * number
        out.append(f'<circle cx="{LEFT + wide + 14}" cy="{at - 4}" r="4" fill="{colour}"/>'
                   f'<text x="{LEFT + wide + 24}" y="{at}">{escape(name)}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"
