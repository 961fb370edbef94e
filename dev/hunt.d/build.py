"""Fetches a store from its package registry, compiles its harness, and says how it is started: a function for each language."""
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path


class Failed(Exception):
    pass


def run(command, folder, environment=None):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env={**os.environ, **(environment or {})})
    if done.returncode:
        raise Failed(f"{' '.join(map(str, command))[:200]} in {folder}:\n{(done.stdout + done.stderr).strip()[-1500:]}")
    return done.stdout


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Failed(f"no {program} here")


def build(entry, root, work):
    """The command without its last arguments, the folder and the mode, and what is to be set in the environment."""
    sources = root / "examples/hunt" / entry["language"]
    folder = work / entry["language"] / entry["store"]
    folder.mkdir(parents=True, exist_ok=True)
    return BUILD[entry["language"]](entry, sources, folder, work)


def fresh(folder, entry, files):
    """Whether `folder` was built from these files and packages; otherwise to be built, and `done` called after it."""
    text = repr((entry["packages"], entry.get("extra"))).encode() + b"".join(file.read_bytes() for file in files)
    stamp, mark = folder / "built", hashlib.sha256(text).hexdigest()
    return stamp.exists() and stamp.read_text() == mark, lambda: stamp.write_text(mark)


def python(entry, sources, folder, work):
    is_fresh, done = fresh(folder, entry, [])
    if not is_fresh:
        shutil.rmtree(folder / "lib", ignore_errors=True)
        if entry["packages"]:
            run([sys.executable, "-m", "pip", "install", "-q", "--target", "lib", *entry["packages"]], folder)
        done()
    path = os.pathsep.join(map(str, [folder / "lib", sources]))
    return [sys.executable, str(sources / "hunt.py"), entry["source"]], {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}


def java(entry, sources, folder, work):
    need("javac", *["mvn"] * bool(entry["packages"]))
    files = [sources / "Hunt.java", sources / f"{entry['source']}.java", *[sources / f"{name}.java" for name in entry.get("with", [])]]
    is_fresh, done = fresh(folder, entry, files)
    if not is_fresh:
        classpath(entry["packages"], folder)
        shutil.rmtree(folder / "classes", ignore_errors=True)
        run(["javac", "-nowarn", "-cp", (folder / "classpath").read_text().strip() or ".", "-d", "classes", *map(str, files)], folder)
        done()
    return [*java_command(folder), "Hunt", entry["source"]], {}


def java_command(folder):
    """What starts a class of `folder`/classes, but for its name."""
    found = f"{folder / 'classes'}:{(folder / 'classpath').read_text().strip()}"
    opens = [word for name in OPENED for word in ("--add-opens", f"{name}=ALL-UNNAMED")]
    return ["java", "-Xmx2g", *opens, "-cp", found]


def classpath(packages, folder):
    """Writes the file `classpath`: where Maven put the packages and what they need."""
    if not packages:
        (folder / "classpath").write_text("")
        return
    dependencies = ""
    for package in packages:
        group, artifact, version = package.split(":")
        dependencies += (f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
                         f"<version>{version}</version></dependency>")
    (folder / "pom.xml").write_text(
        "<project><modelVersion>4.0.0</modelVersion><groupId>hunt</groupId><artifactId>hunt</artifactId><version>1</version>"
        f"<packaging>pom</packaging><dependencies>{dependencies}</dependencies></project>")
    run(["mvn", "-q", "-B", "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath", "-Dmdep.outputFile=classpath"], folder)


# What libraries that reach into the runtime (Ignite, LMDB, Hazelcast) want opened.
OPENED = ["java.base/java.nio", "java.base/sun.nio.ch", "java.base/java.lang", "java.base/java.util", "java.base/java.lang.invoke",
          "java.base/jdk.internal.misc", "java.base/java.io", "java.base/java.net", "java.base/java.util.concurrent",
          "java.base/java.util.concurrent.atomic", "java.base/java.util.concurrent.locks", "java.base/java.lang.reflect",
          "java.base/java.math", "java.base/java.time", "java.base/java.text", "java.management/sun.management",
          "java.management/com.sun.jmx.mbeanserver", "jdk.management/com.sun.management.internal",
          "java.base/sun.security.x509", "java.base/jdk.internal.access", "java.sql/java.sql"]


def go(entry, sources, folder, work):
    need("go")
    files = [sources / "hunt.go", sources / f"{entry['source']}.go"]
    is_fresh, done = fresh(folder, entry, files)
    if not is_fresh:
        for file in files:
            shutil.copy(file, folder / file.name)
        go_build(folder, entry["packages"])
        done()
    return [str(folder / "harness")], {}


def go_build(folder, packages):
    """The program `harness` from the files in `folder`."""
    (folder / "go.mod").write_text("module hunt\n\ngo 1.24\n")
    environment = {"GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local"}
    for package in packages:
        run(["go", "get", package], folder, environment)
    run(["go", "mod", "tidy"], folder, environment)
    run(["go", "build", "-o", "harness", "."], folder, environment)


def rust(entry, sources, folder, work):
    need("cargo")
    files = [sources / "hunt.rs", sources / f"{entry['source']}.rs"]
    is_fresh, done = fresh(folder, entry, files)
    name = f"hunt-{entry['store']}"
    if not is_fresh:
        (folder / "src").mkdir(exist_ok=True)
        shutil.copy(files[0], folder / "src/hunt.rs")
        shutil.copy(files[1], folder / "src/main.rs")
        cargo_build(folder, name, entry["packages"], work)
        done()
    return [str(folder / "harness")], {}


def cargo_build(folder, name, packages, work):
    """The program `harness` from the files in `folder`/src. What crates have in common is compiled once, below `work`."""
    lines = []
    for package in packages:
        crate, version = package.split("@")
        version, _, features = version.partition("+features=")
        extra = "".join(f', features = ["{feature}"]' for feature in [features] if feature)
        lines.append(f'{crate} = {{ version = "={version}"{extra} }}\n')
    (folder / "Cargo.toml").write_text(f'[package]\nname = "{name}"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\n{"".join(lines)}\n'
                                       '[profile.release]\nopt-level = 2\ndebug = false\n\n[workspace]\n')
    run(["cargo", "build", "--release", "-q", "-j", "2"], folder, {"CARGO_TARGET_DIR": str(work / "rust/target"), "RUSTFLAGS": "-Awarnings"})
    shutil.copy(work / "rust/target/release" / name, folder / "harness")


def javascript(entry, sources, folder, work):
    need("node", *["npm"] * bool(entry["packages"]))
    is_fresh, done = fresh(folder, entry, [])
    if not is_fresh:
        (folder / "package.json").write_text("{}")
        if entry["packages"]:
            run(["npm", "install", "--no-audit", "--no-fund", "--silent", *entry["packages"]], folder)
        done()
    return ["node", str(sources / "hunt.js"), str(sources / f"{entry['source']}.js")], {"NODE_PATH": str(folder / "node_modules")}


def cpp(entry, sources, folder, work):
    """Debian's packages, unpacked beside the harness: nothing is installed."""
    need("g++", *["apt-get", "dpkg"] * bool(entry["packages"]))
    files = [sources / "hunt.h", sources / "hunt.cc", sources / f"{entry['source']}.cc"]
    is_fresh, done = fresh(folder, entry, files)
    found = folder / "root/usr"
    libraries = found / "lib" / (os.uname().machine + "-linux-gnu")
    if not is_fresh:
        shutil.rmtree(folder / "root", ignore_errors=True)
        if entry["packages"]:
            for archive in folder.glob("*.deb"):
                archive.unlink()
            run(["apt-get", "download", *entry["packages"]], folder)
            for archive in folder.glob("*.deb"):
                run(["dpkg", "-x", str(archive), "root"], folder)
        run(["g++", "-std=c++20", "-O2", "-pthread", "-I", str(found / "include"), *map(str, files[1:]), "-o", "harness", "-L", str(libraries),
             f"-Wl,-rpath,{libraries},-rpath-link,{libraries}", *[f"-l{name}" for name in entry.get("libraries", [])]], folder)
        done()
    return [str(folder / "harness")], {"LD_LIBRARY_PATH": str(libraries)}


BUILD = {"python": python, "java": java, "go": go, "rust": rust, "javascript": javascript, "cpp": cpp}
