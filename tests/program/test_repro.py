"""A fault inside pcc leaves a reproducer, which pcc runs again as it is.

pcc-lying (tests/planted/lying.c, built beside the tests) is pcc with a planted fault: its judge differs
from every planner, or its verifier refuses the module after the pass cost. The reproducer must fail
in the same way there, succeed with the true pcc, and hold only the passes that are left. What a
reproducer from elsewhere may not do is read or write other files."""
# once: sanitized
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import extras
from checks import check, complain, finish

PCC = os.environ.get("PCC", "pcc")
PCC_GEN = os.environ.get("PCC_GEN", "pcc-gen")
LYING = extras.BUILT / "pcc-lying"
REPRO = Path(__file__).resolve().parents[2] / "tools/pcc/repro.c"


def run(program, *args, lie="", cwd):
    return subprocess.run([str(program), *args], cwd=cwd, env={**os.environ, "PCC_LIE": lie},
                          capture_output=True, text=True, timeout=300)


def fault(folder, lie, message, passes, *args):
    """The run of a lying pcc on m.onnx, its reproducer, and that one's runs; the reproducer's first line."""
    repro = folder / "pcc-repro.pir"
    r = run(LYING, "m.onnx", "-q", *args, lie=lie, cwd=folder)
    check(r.returncode == 4 and message in r.stderr, f"{lie}: exit {r.returncode}: {r.stderr}")
    check("pcc-repro.pir" in r.stderr, f"{lie}: the reproducer is not announced: {r.stderr}")
    if not repro.exists():
        complain(f"{lie}: no reproducer")
        return ""
    first = repro.read_text().split("\n")[0]
    check(first.startswith(f"# RUN: pcc pcc-repro.pir --passes='{passes}'"), f"{lie}: {first}")
    before = repro.read_bytes()
    again = run(LYING, "pcc-repro.pir", "-q", lie=lie, cwd=folder)
    line = next((s for s in r.stderr.splitlines() if message in s), "?")
    check(again.returncode == 4 and line in again.stderr,
          f"{lie}: again: exit {again.returncode}: {again.stderr}; wanted {line}")
    check(repro.read_bytes() == before, f"{lie}: a run of the reproducer changes it")
    good = run(PCC, "pcc-repro.pir", "--diag=json", cwd=folder)
    check(good.returncode == 0, f"{lie}: true pcc: exit {good.returncode}: {good.stderr}")
    notes = [json.loads(s) for s in good.stderr.splitlines()]
    check(any("a reproducer" in n["message"] for n in notes), f"{lie}: no note: {notes}")
    shell = run("sh", "-c", first.replace("# RUN: pcc", '"$0"'), PCC, cwd=folder)
    check(shell.returncode == 0, f"{lie}: the line as a command: {shell.stderr}")
    repro.unlink()
    return first


def hostile(folder):
    """Options in the first line that pcc does not write there are refused."""
    for words in ("--output=out.json", "-o out.json", "--passes=@secret", "--pin='@secret'",
                  "--devices=2xa100", "--passes='cost", "other.pir", "--nope"):
        (folder / "bad.pir").write_text(f"# RUN: pcc pcc-repro.pir {words}\ngraph {{ }}\n")
        r = run(PCC, "bad.pir", cwd=folder)
        check(r.returncode == 2 and not (folder / "out.json").exists(),
              f"first line with {words}: exit {r.returncode}: {r.stderr}")


def main():
    extras.need(LYING.exists(), f"{LYING} is not built")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([PCC_GEN, "gpt", "-o", folder / "m.onnx", "--layers", "1", "--width", "16",
                        "--heads", "2", "--vocab", "20", "--kv"], check=True, stdout=subprocess.DEVNULL)
        pins = "blocks|it's=acc1"
        fault(folder, "judge", "the judge finds", "contract,fuse{range=300},dp-place",
              "-p", "fuse{range=300},dp-place", "--dim", "batch=2", "--dim", "sequence=8",
              "--pin", pins, "--io", "free", "-d", "2xa100:40GiB")
        line = fault(folder, "judge", "the judge finds", "contract,dp-place", "-p", "dp-place",
                     "--stop-after", "dp-place", "--link", "3GB/s,7us", "--keep-blocks")
        fault(folder, "verify", "the module is broken after cost", "cost", "-p", "dp-place",
              "--verify-each")
        (folder / "b.csv").write_text("op,time\nMatMul,1us\n")
        line += fault(folder, "verify", "the module is broken after cost", "cost", "-p", "dp-place", "--verify-each",
                      "--dim", "batch=4", "--profile-at", "1=b.csv", "--profile-at", "2=b.csv")
        check("--profile-at='1=b.csv' --profile-at='2=b.csv'" in line, f"measurements: {line}")
        (folder / "lacks.txt").write_text("Erf\n")
        line += fault(folder, "verify", "the module is broken after cost", "cost", "-p", "dp-place", "--verify-each",
                      "-d", "1xa100,1xcpu", "--costs", "b.csv", "--support", "lacks.txt:a100", "--keep-blocks",
                      "--state", "past_key_values.0.key=present.0.key", "--pin", "blocks=cpu0", "--io", "free",
                      "--cut-at", "nothing", "--no-cut", "none", "--max-states", "9", "--time-limit", "100s")
        written = set(re.findall(r'put_option\(f, "([a-z-]+)"', REPRO.read_text()))
        check(len(written) > 8, f"options of reproducers: {written}")
        for option in (*written, "cut-at", "no-cut", "keep-blocks", "verify-each"):
            check(f" --{option}" in line, f"--{option}: no reproducer has it, so that none was read with it")
        r = run(LYING, "m.onnx", "-q", "-p", "dp-place", cwd=folder)
        check(r.returncode == 0 and not (folder / "pcc-repro.pir").exists(),
              f"no fault, but exit {r.returncode} or a reproducer")
        hostile(folder)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
