"""kill -9 at any moment while a split replaces another one: the folder is the old one or the new one,
byte for byte, and what a killed run leaves beside it is removed by the next run, which leaves alone
what a living one is making.

50 moments are spread over the time of a run by a seeded generator; others are chosen by watching:
the temporary folder appears, a file appears in it, the folders have changed places; while pictures
are laid out.  Where a process may be traced, also at the entry and the exit of each of the last system
calls, which put the folder in its place, and where files for engines come into a folder (--for).
Splits beside their source (a folder with a manifest is complete) and single files (nothing at all is
left) are killed at random moments, too.

Environment: PCC, PCC_GEN; PCC_SEED (default 5)."""
# extras: trace tmpfile
# once: sanitized
import ctypes
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from checks import check, finish

PCC = shutil.which(os.environ.get("PCC", "pcc"))
PCC_GEN = shutil.which(os.environ.get("PCC_GEN", "pcc-gen"))
MOMENTS, WATCHED = 50, 8
LAST = 120  # stops at system calls: entry and exit
PTRACE_TRACEME, PTRACE_SYSCALL = 0, 24
ONE = ["-d", "1xa100", "-p", "dp-place", "-q"]
TWO = ["-d", "2xa100", "--link", "1TB/s,0us", "-p", "fuse,dp-place", "-q"]
NO_DOT = {**os.environ, "PATH": "/nonexistent"}


def tree(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir()}


def leftovers(area):
    return sorted(p.name for p in area.iterdir() if p.name != "split")


class Place:
    """A folder with a split in it, the commands that write the old and the new one, and both results."""

    def __init__(self, tmp):
        self.area = tmp / "area"
        self.area.mkdir()
        self.split = self.area / "split"
        gpt = ["gpt", "--heads", "2", "--vocab", "512", "--layers", "3", "-o"]
        for name, width in (("old", "64"), ("new", "256")):
            subprocess.run([PCC_GEN, *gpt, tmp / (name + ".onnx"), "--width", width], check=True,
                           capture_output=True)
        self.command = {"old": [PCC, tmp / "old.onnx", *ONE, "-o", "split"],
                        "new": [PCC, tmp / "new.onnx", *TWO, "-o", "split"]}
        self.want, self.seconds = {}, {}
        for name, command in self.command.items():
            start = time.monotonic()
            subprocess.run(command, cwd=self.area, env=NO_DOT, check=True, capture_output=True)
            self.seconds[name] = time.monotonic() - start
            self.want[name] = tree(self.split)
            shutil.rmtree(self.split)
        self.seen = {"old": 0, "new": 0, "left": 0}

    def put_old(self):
        """The old split by a run of its own, which has to remove what lies about."""
        for _ in range(3): # a killed run's child holds the lock until it has started dot
            r = subprocess.run(self.command["old"], cwd=self.area, env=NO_DOT, capture_output=True,
                               text=True)
            if not leftovers(self.area):
                break
            time.sleep(0.05)
        check(r.returncode == 0 and tree(self.split) == self.want["old"] and not leftovers(self.area),
              f"the next run: exit {r.returncode}, {leftovers(self.area)} lie about: {r.stderr[-300:]}")

    def start(self, **more):
        more.setdefault("env", NO_DOT)
        return subprocess.Popen(self.command["new"], cwd=self.area, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, **more)

    def kill(self, p, what):
        if isinstance(p, int):
            os.kill(p, signal.SIGKILL)
            os.waitpid(p, 0)
        else:
            p.kill()
            p.wait()
        if not check(self.split.is_dir(), f"{what}: there is no folder any more"):
            return
        now = tree(self.split)
        which = [name for name in self.want if now == self.want[name]]
        if check(which, f"{what}: neither old nor new: {sorted(now)}"):
            check(json.loads(now["manifest.json"])["pcc_manifest"] == 1, f"{what}: manifest")
            self.seen[which[0]] += 1
        self.seen["left"] += bool(leftovers(self.area))


def at_random(place, rng):
    for i in range(MOMENTS):
        place.put_old()
        at = (i + rng.random()) / MOMENTS * place.seconds["new"] * 1.1
        start = time.monotonic()
        p = place.start()
        while time.monotonic() - start < at:
            pass
        place.kill(p, f"killed after {at * 1000:.2f} ms")


def watched(place, rng):
    """Kills as soon as something has happened, or a little later."""
    def temporary():
        return [p for p in place.area.iterdir() if p.name.startswith(".split.pcc-")]

    def made(name):
        return any((p / name).exists() for p in temporary())

    def number():
        return place.split.stat().st_ino if place.split.exists() else 0
    inode = 0
    moments = {"temporary folder": temporary, "weights": lambda: made("weights.data"),
               "part": lambda: made("part1.onnx"), "manifest": lambda: made("manifest.json"),
               "exchange": lambda: number() != inode}
    for what, happened in moments.items():
        for i in range(WATCHED):
            place.put_old()
            inode = number()
            p = place.start()
            until = time.monotonic() + 300
            while not happened() and p.poll() is None and time.monotonic() < until:
                pass
            if i % 2:
                time.sleep(rng.random() * 0.0002)
            place.kill(p, f"killed at the {what}")


def trace(place, stops, look=lambda: None):
    """Lets a run go on to the stops-th system call stop, with a look at each one before; its pid, or None and the stops
    if it ended."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    pid = os.fork()
    if pid == 0:
        os.chdir(place.area)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 1)
        os.dup2(null, 2)
        if libc.ptrace(PTRACE_TRACEME, 0, None, None) == 0:
            os.execve(PCC, [str(a) for a in place.command["new"]], NO_DOT)
        os._exit(99)
    at = 0
    while True:
        status = os.waitpid(pid, 0)[1]
        if not os.WIFSTOPPED(status):
            return None, at if os.waitstatus_to_exitcode(status) == 0 else -1
        if at == stops:
            return pid, at
        at += 1
        look()
        libc.ptrace(PTRACE_SYSCALL, pid, None, None)


def at_system_calls(place):
    place.put_old()
    pid, stops = trace(place, -1)
    extras.need(stops >= LAST and tree(place.split) == place.want["new"], "processes cannot be traced here")
    for n in range(stops - LAST, stops + 1):
        place.put_old()
        pid, at = trace(place, n)
        if pid:
            place.kill(pid, f"killed at stop {at} of {stops}")


def while_added(tmp):
    """Files for engines come into a folder with older ones: after a kill at any call the next run adds them."""
    place = SimpleNamespace(area=tmp / "added", command={"new": [PCC, "split", "-q", "--for=triton"]})
    split, base = place.area / "split", tmp / "base"
    subprocess.run([PCC, tmp / "old.onnx", *ONE, "--for=triton", "-o", base], env=NO_DOT, check=True)
    text = (base / "manifest.json").read_text()
    (base / "manifest.json").write_text(text.replace('"old.onnx"', '"other.onnx"'))  # the name of the triton model

    def again():
        shutil.rmtree(place.area, ignore_errors=True)
        shutil.copytree(base, split)
    def look():
        inodes.append([p.stat().st_ino for p in (split / "manifest.json", split / "triton")])
    again()
    inodes = []
    trace(place, -1, look)
    want = {p: p.is_dir() or p.read_bytes() for p in split.rglob("*")}
    changed = [n for n in range(1, len(inodes)) if inodes[n] != inodes[n - 1]]
    check(any("other" in p.name for p in want) and len(changed) == 3, f"{changed}, {sorted(want)}")
    for n in changed:
        again()
        pid, _ = trace(place, n)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        r = subprocess.run(place.command["new"], cwd=place.area, env=NO_DOT, capture_output=True, text=True)
        found = {p: p.is_dir() or p.read_bytes() for p in split.rglob("*")}
        check(r.returncode == 0 and found == want, f"killed at stop {n} while files are added: {r.stderr}")


def make_dot(folder):
    """A dot program that says it has begun, waits to be let go, and fails: no picture, as without."""
    folder.mkdir()
    path = folder / "dot"
    path.write_text(f'#!/bin/sh\n: >"{folder}/begun"\n'
                    f'while [ ! -e "{folder}/go" ]; do sleep 0.02; done\nexit 1\n')
    path.chmod(0o755)
    return dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}")


def wait_begun(folder):
    until = time.monotonic() + 300
    while not (folder / "begun").exists() and time.monotonic() < until:
        time.sleep(0.01)
    return check((folder / "begun").exists(), "dot was not started")


def beside_the_living(place, tmp):
    """A run that waits for dot keeps its folder while another run replaces the target."""
    place.put_old()
    env = make_dot(tmp / "bin1")
    p = place.start(env=env)
    if wait_begun(tmp / "bin1"):
        living = leftovers(place.area)
        check(len(living) == 1, f"a living run has {living}")
        before = tree(place.area / living[0])
        r = subprocess.run(place.command["old"], cwd=place.area, env=NO_DOT, capture_output=True)
        check(r.returncode == 0 and tree(place.split) == place.want["old"], "a run beside a living one")
        check(leftovers(place.area) == living and tree(place.area / living[0]) == before,
              "the folder of a living run was touched")
    (tmp / "bin1/go").touch()
    check(p.wait(300) == 0 and tree(place.split) == place.want["new"] and not leftovers(place.area),
          f"the living run: exit {p.returncode}, {leftovers(place.area)}")


def during_pictures(place, tmp):
    """Its dot process lives on, but keeps nobody from cleaning up."""
    place.put_old()
    env = make_dot(tmp / "bin2")
    p = place.start(env=env)
    if wait_begun(tmp / "bin2"):
        place.kill(p, "killed while dot runs")
        check(len(leftovers(place.area)) == 1, f"killed while dot runs: {leftovers(place.area)}")
    place.put_old()
    (tmp / "bin2/go").touch()
    time.sleep(0.2) # the orphan ends before its folder is removed


def of_another_user(place):
    """What another user's run has left stays, though the name fits; only root can make such a folder."""
    if os.geteuid():
        return
    place.put_old()
    left = place.area / ".split.pcc-abcdef"
    left.mkdir()
    (left / "part0.onnx").touch()
    for path in (left / "part0.onnx", left):
        os.chown(path, 12345, 12345)
    r = subprocess.run(place.command["old"], cwd=place.area, env=NO_DOT, capture_output=True)
    check(r.returncode == 0 and left.is_dir() and sorted(tree(left)) == ["part0.onnx"],
          "the folder of another user was touched")
    os.chown(left, 0, 0)
    place.put_old()


def killed_at_random(command, seconds, rng, i, **more):
    p = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=NO_DOT, **more)
    time.sleep((i + rng.random()) / MOMENTS * seconds * 1.1)
    p.kill()
    p.wait()


def beside_the_source(place, tmp, rng):
    """Files move one by one into a folder that stays."""
    area = tmp / "source"
    area.mkdir()
    for name in ("old", "new"):
        shutil.copy(tmp / (name + ".onnx"), area)
    sources = tree(area)
    command = {name: [PCC, name + ".onnx", *devices, "-o", ".", "--weights=original"]
               for name, devices in (("old", ONE), ("new", TWO))}
    want, seen = {}, {"old": 0, "new": 0, "neither": 0}
    for name in ("new", "old"):
        start = time.monotonic()
        r = subprocess.run(command[name], cwd=area, env=NO_DOT, capture_output=True, text=True)
        check(r.returncode == 0, f"beside the source: {r.stderr}")
        seconds = time.monotonic() - start
        want[name] = tree(area)
    for i in range(MOMENTS):
        killed_at_random(command["new"], seconds, rng, i, cwd=area)
        for p in [p for p in area.iterdir() if p.is_dir()]:
            shutil.rmtree(p)
        now = tree(area)
        check(all(now.get(name) == data for name, data in sources.items()), "beside the source: it has changed")
        which = [name for name in want if now == want[name]]
        check(which or "manifest.json" not in now, f"beside the source: a manifest and {sorted(now)}")
        seen[which[0] if which else "neither"] += 1
        for name in now.keys() - sources.keys() if not which else ():
            (area / name).unlink()
        r = subprocess.run(command["old"], cwd=area, env=NO_DOT, capture_output=True, text=True)
        check(r.returncode == 0 and tree(area) == want["old"], f"beside the source, the next run: {r.stderr}")
    print(f"beside the source: {seen}", flush=True)


def single_files(tmp, rng):
    area = tmp / "single"
    area.mkdir()
    command = [PCC, tmp / "new.onnx", "-q", "-o", area / "one.onnx"]
    try:
        os.close(os.open(area, os.O_TMPFILE | os.O_WRONLY))
    except OSError:
        extras.need(False, "no files without a name (O_TMPFILE) here")
    start = time.monotonic()
    subprocess.run(command, env=NO_DOT, check=True, capture_output=True)
    seconds, whole, seen = time.monotonic() - start, tree(area), 0
    for i in range(MOMENTS):
        (area / "one.onnx").unlink(missing_ok=True)
        killed_at_random(command, seconds, rng, i)
        check(tree(area) in ({}, whole), f"a single file: {leftovers(area)}")
        seen += not tree(area)
    print(f"single files: killed {seen} times before the end", flush=True)


def main():
    if not PCC or not PCC_GEN:
        print("skipped: PCC and PCC_GEN must name the programs")
        return 77
    rng = random.Random(int(os.environ.get("PCC_SEED", "5")))
    with tempfile.TemporaryDirectory(prefix="pcc-crash-") as name:
        tmp = Path(name)
        place = Place(tmp)
        if extras.extra():
            if extras.extra() == "tmpfile":
                single_files(tmp, rng)
            else:
                at_system_calls(place)
                while_added(tmp)
            return finish()
        at_random(place, rng)
        print(f"random: {place.seen}, a run takes {place.seconds['new'] * 1000:.0f} ms", flush=True)
        watched(place, rng)
        beside_the_living(place, tmp)
        during_pictures(place, tmp)
        of_another_user(place)
        beside_the_source(place, tmp, rng)
        place.put_old()
        print(f"killed: {place.seen}", flush=True)
        for what, n in place.seen.items():
            check(n >= 3, f"only {n} times '{what}': the moments do not test enough")
    return finish()


if __name__ == "__main__":
    sys.exit(main())
