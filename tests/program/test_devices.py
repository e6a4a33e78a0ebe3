#!/usr/bin/env python3
"""Devices by name: presets in any case, links by name, --list-devices, -d detect with a stand-in for nvidia-smi."""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from checks import check, finish  # noqa: E402

PCC, GEN = os.path.abspath(os.environ.get("PCC", "pcc")), os.path.abspath(os.environ.get("PCC_GEN", "pcc-gen"))
# Rows of data sheets: memory in GB, bandwidth in GB/s, dense f16 in TFLOPS.
SHEETS = {"t4": (16, 300, 65), "l4": (24, 300, 121), "a10": (24, 600, 125), "a30": (24, 933, 165),
          "l40s": (48, 864, 362.05), "rtx3090": (24, 936, 71), "rtx4090": (24, 1008, 165.2),
          "mi300x": (192, 5300, 1307.4), "b200": (180, 7700, 2250)}
LINKS = {"pcie3x16": 15.754, "pcie4x16": 31.508, "pcie5x16": 63.015, "nvlink3": 300, "nvlink4": 450}


def pcc(*args, code=0, path=None):
    env = os.environ if path is None else {**os.environ, "PATH": path}
    r = subprocess.run([PCC, *map(str, args)], capture_output=True, text=True, timeout=120, check=False, env=env)
    check(r.returncode == code, f"{args}: exit {r.returncode}, not {code}: {r.stderr[-300:]}")
    return r


def head(model, *args, planner="one-place"):
    """The classes of the textual IR."""
    return re.findall(r"^class .*", pcc(model, "-q", *args, "-p", planner, "--emit=ir").stdout, re.M)


def detect(model, tmp):
    """(what nvidia-smi lists, what is detected)."""
    tool = tmp / "bin" / "nvidia-smi"
    tool.parent.mkdir()
    for rows, want in (("NVIDIA A100-SXM4-80GB, 81920\\nNVIDIA A100-SXM4-80GB, 81920\\n", "2xa100:81920MiB"),
                       ("Tesla T4, 15360\\nNVIDIA L40S, 46068\\nNVIDIA L4, 23034\\n",
                        "1xt4:15360MiB,1xl40s:46068MiB,1xl4:23034MiB"),
                       ("NVIDIA GeForce RTX 3090, 24576\\nNVIDIA H100 80GB HBM3, [N/A]\\n",
                        "1xrtx3090:24576MiB,1xh100")):
        tool.write_text("#!/bin/sh\ncase \"$*\" in *name,memory.total*noheader*) "
                        f"printf '{rows}';; *) exit 9;; esac\n")
        tool.chmod(0o755)
        r = pcc(model, "-d", "detect", "-p", "one-place{best-effort=true}", path=f"{tool.parent}:/usr/bin:/bin")
        check(f"note: -d detect: {want}\n" in r.stderr, f"{rows}: {r.stderr}")
    for name in ("NVIDIA GeForce RTX 3090Ti", "NVIDIA L400", "Something Else"):
        tool.write_text(f"#!/bin/sh\necho '{name}, 1000'\n")
        said = pcc(model, "-d", "detect", code=1, path=f"{tool.parent}:/usr/bin:/bin").stderr
        check(f"no preset is a '{name}'" in said, f"{name}: {said}")
    tool.write_text("#!/bin/sh\nexit 9\n")
    for path, why in ((f"{tool.parent}:/usr/bin:/bin", "nvidia-smi does not answer"),
                      (str(tmp), "there is no nvidia-smi")):
        said = pcc(model, "-d", "detect", path=path).stderr
        check(re.search(rf"-d detect: 1xcpu(:\d+MiB)? \({why}\)", said), f"{why}: {said}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        tmp = Path(folder)
        model = tmp / "m.onnx"
        subprocess.run([GEN, "gpt", "--layers", "1", "--width", "16", "--heads", "2", "--vocab", "20", "-o", model],
                       check=True)
        table = pcc("--list-devices").stdout
        for name, (memory, rate, f16) in SHEETS.items():
            row = re.search(rf"^{name} .*", table, re.M)
            cells = row[0].split() if row else [name, *"00000000"]
            got = float(cells[1]), float(cells[3]) * {"G": 1, "T": 1000}.get(cells[4][0], 0), float(cells[7])
            check(all(abs(x - y) <= 1e-3 * y for x, y in zip(got, (memory, rate, f16))), f"{name}: {got}")
            check(head(model, "-d", f"2x{name.upper()}") == head(model, "-d", f"2x{name}") != [], f"{name} in capitals")
        for name, rate in LINKS.items():
            check(re.search(rf"^{name} +", table, re.M), f"--list-devices has no {name}")
            small = pcc(model, "-q", "-d", "2xa100", f"--link={name}", "-p", "dp-place", "--emit=json").stdout
            mega = f"{rate * 1000:.0f}MB/s,{'10' if name.startswith('p') else '2'}us"
            same = pcc(model, "-q", "-d", "2xa100", f"--link={mega}", "-p", "dp-place", "--emit=json").stdout
            check(json.loads(small)["objective"] == json.loads(same)["objective"], f"{name} is not {mega}")
        a, b = (head(model, "-d", "8xh100", "--group", g, planner="hier-place") for g in ("8:NVLink4", "8:450GB/s,2us"))
        check(a == b and a, f"--group 8:nvlink4: {a}")
        check("--list-devices" in pcc(model, "--link=nvlink9", code=2).stderr, "a link that is not known")
        words = pcc("--help-completion=bash").stdout
        row = re.search(r"--devices\|-d\) .*", words)
        check(row and all(w in row[0] for w in ("rtx4090", "detect", "dapple-a")), f"completion of -d: {row}")
        detect(model, tmp)
    return finish()


sys.exit(main())
