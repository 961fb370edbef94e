"""Adds to each statement the place in the code that sent it, as a comment: SELECT … /*file='shop/views.py:42'*/

`assay record` reads it, and names the place in what it explains. A place always adds the same comment, so that prepared
statements work as before: there is one for each place. Copy this file.

    sqlalchemy   places.tag_sqlalchemy(engine)
    psycopg      psycopg.connect(url, cursor_factory=places.tagging(psycopg.Cursor))
    psycopg2     psycopg2.connect(url, cursor_factory=places.tagging(psycopg2.extensions.cursor))
    Django       places.tag_django()                       once, in the settings or an AppConfig.ready
"""
import os
import re
import sys
import sysconfig

LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")} | {"<"})


def tagged(sql):
    """The statement with the place of the nearest caller that is in no library."""
    frame = sys._getframe(1)
    while frame and (frame.f_code.co_filename.startswith(LIBRARIES) or frame.f_code.co_filename == __file__
                     or "-packages" in frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None or not isinstance(sql, str):
        return sql
    file = os.path.relpath(frame.f_code.co_filename)
    return f"{sql} /*file='{re.sub(r'[^A-Za-z0-9_./-]', '_', file)}:{frame.f_lineno}'*/"


def tag_sqlalchemy(engine):
    from sqlalchemy import event

    @event.listens_for(engine, "before_cursor_execute", retval=True)
    def tag(connection, cursor, sql, parameters, context, many):
        return tagged(sql), parameters


def tagging(cursor):
    """A class of cursors that tags what it executes."""
    class TaggingCursor(cursor):
        def execute(self, query, *args, **more):
            return super().execute(tagged(query), *args, **more)

        def executemany(self, query, *args, **more):
            return super().executemany(tagged(query), *args, **more)
    return TaggingCursor


def tag_django():
    from django.db.backends.signals import connection_created

    def tag(execute, sql, params, many, context):
        return execute(tagged(sql), params, many, context)

    def connected(connection, **_):
        if tag not in connection.execute_wrappers:
            connection.execute_wrappers.append(tag)
    connection_created.connect(connected, weak=False)
