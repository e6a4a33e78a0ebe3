#!/usr/bin/env python3
"""Devices by name: presets in any case, links by name, --list-devices, -d detect with a stand-in for nvidia-smi, the
page with the table of devices. What detect finds on other machines: unit_detect."""
# once: sanitized
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from checks import check, finish  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
PCC, GEN = os.path.abspath(os.environ.get("PCC", "pcc")), os.path.abspath(os.environ.get("PCC_GEN", "pcc-gen"))
# Rows of data sheets: memory in GB, bandwidth in GB/s, dense f16 in TFLOPS.
SHEETS = {"t4": (16, 300, 65), "l4": (24, 300, 121), "a10": (24, 600, 125), "a30": (24, 933, 165),
          "l40s": (48, 864, 362.05), "rtx3090": (24, 936, 71), "rtx4090": (24, 1008, 165.2),
          "mi300x": (192, 5300, 1307.4), "b200": (180, 7700, 2250), "h20": (96, 4000, 148), "gh200": (96, 4000, 989.5),
          "gb200": (186, 8000, 2500), "a40": (48, 696, 149.7), "a6000": (48, 768, 154.8), "l40": (48, 864, 181.05),
          "rtx3080": (10, 760, 59.5), "rtx4080": (16, 716.8, 97.5), "rtx5090": (32, 1792, 209.5),
          "mi250": (64, 1638.4, 181.05), "mi325x": (256, 6000, 1307.4), "mi355x": (288, 8000, 2516.6)}
# What links reach, GB/s, and their peaks.
LINKS = {"pcie3x16": (12.4, 15.754), "pcie4x16": (25.7, 31.508), "pcie5x16": (55.1, 63.015), "nvlink2": (131, 150),
         "nvlink3": (262, 300), "nvlink4": (395, 450), "ethernet25": (2.942, 3.125), "infiniband400": (48.5, 50)}
LATENCIES = {"p": 10, "n": 2, "e": 50, "i": 5}


def pcc(*args, code=0, path=None):
    env = os.environ if path is None else {**os.environ, "PATH": path}
    r = subprocess.run([PCC, *map(str, args)], capture_output=True, text=True, timeout=120, check=False, env=env)
    check(r.returncode == code, f"{args}: exit {r.returncode}, not {code}: {r.stderr[-300:]}")
    return r


def head(model, *args, planner="one-place"):
    """The classes of the textual IR."""
    return re.findall(r"^class .*", pcc(model, "-q", *args, "-p", planner, "--emit=ir").stdout, re.M)


def detect(model, tmp):
    """-d detect in a run: the classes that it plans for are those of the file that -v prints; --list-devices=detect."""
    tool = tmp / "bin" / "nvidia-smi"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\ncase \"$*\" in *name,memory.free*noheader*) "
                    "echo 'NVIDIA L4, 22500, 23034, 2040, 6251, 00000000:03:00.0, 4, 16'; "
                    "echo 'NVIDIA GeForce RTX 3090 Ti, 24000, 24564, 1860, 10501, 00000000:04:00.0, 4, 16';; "
                    "*) exit 9;; esac\n")
    tool.chmod(0o755)
    path = f"{tool.parent}:/usr/bin:/bin"
    r = pcc(model, "-v", "-d", "detect", "-p", "one-place", "--emit=ir", path=path)
    classes = re.findall(r"^class .*", r.stdout, re.M)
    found = r"note: -d detect: 1xl4:22500MiB,1xnvidia-geforce-rtx-3090-ti:24000MiB,.*1xcpu:.*; measured: "
    check(re.search(found, r.stderr), f"the note on what was found: {r.stderr}")
    check("nvidia-geforce-rtx-3090-ti is estimated" in r.stderr, f"an estimate is said: {r.stderr}")
    line = re.search(r'-d detect: (\{"classes".*\})$', r.stderr, re.M)
    (tmp / "machine.json").write_text(line[1] if line else "")
    again = head(model, "-d", tmp / "machine.json")
    check(again == classes and 'class "l4"' in classes[0] and "host" in classes[-1], f"{again} is not {classes}")
    own = json.loads(pcc("--list-devices=detect", path=str(tmp)).stdout)["classes"][-1]
    cores = len(os.sched_getaffinity(0))
    peak = float(own["peak"]["f32"][:-1]) * {"G": 1e9, "M": 1e6, "T": 1e12}[own["peak"]["f32"][-1]]
    # what a core can do is between a tenth of a billion and half a trillion operations per second
    check(1e8 < peak < cores * 5e11 and own["memory"].endswith("B"), f"the processor: {own}")
    check(pcc("--list-devices=2xa101", code=2).stderr and pcc("--list-devices=no.json", code=1).stderr, "refused")


def groups(model, tmp):
    """Without -p the planner is one that knows groups where there are some: of a file, and of NVLinks."""
    (tmp / "pairs.json").write_text('{"classes": [{"preset": "a100", "count": 4, "group": 2, "inner_share": "0.25"}]}')
    for devices in (tmp / "pairs.json", "4xa100"):
        said = pcc(model, "-d", devices, "--print-pipeline").stderr.split("\n")[0]
        check(said.endswith("auto-place" if devices == "4xa100" else "hier-place"), f"{devices}: {said}")
    tool = tmp / "bin" / "nvidia-smi"
    tool.write_text("#!/bin/sh\ncase $1 in --query-gpu=*) for b in 7 8; do "
                    "echo \"A100, 9000, 9000, , , 0000:0$b:00.0\"; done;; "
                    "topo) printf ' GPU0 GPU1\\nGPU0 X NV4\\nGPU1 NV4 X\\n';; esac\n")
    for more in (), ("--objective=latency",):  # no plan for latency can use groups
        got = pcc(model, "-q", "-d", "detect", *more, "--emit=ir", path=f"{tool.parent}:/usr/bin:/bin").stdout
        found = re.search('^class "a100" x2 memory=9000MiB.*', got, re.M)
        check(found and ("group=2 inner=100GB/s,2us" in found[0]) == (not more), f"{more}: {got[:1000]}")


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
        check(head(model, "-d", "2xRTX6000-ADA") == head(model, "-d", "2xrtx6000-ada") != [], "a name in capitals")
        for name, (rate, peak) in LINKS.items():
            row = re.search(rf"^{name} +\S+  (measured|estimated)$", table, re.M)
            check(row and 0.75 * peak < rate < peak, f"--list-devices has no {name}")
            small = pcc(model, "-q", "-d", "2xa100", f"--link={name}", "-p", "dp-place", "--emit=json").stdout
            mega = f"{rate * 1000:.0f}MB/s,{LATENCIES[name[0]]}us"
            same = pcc(model, "-q", "-d", "2xa100", f"--link={mega}", "-p", "dp-place", "--emit=json").stdout
            check(json.loads(small)["objective"] == json.loads(same)["objective"], f"{name} is not {mega}")
        a, b = (head(model, "-d", "8xh100", "--group", g, planner="hier-place") for g in ("8:NVLink4", "8:395GB/s,2us"))
        check(a == b and a, f"--group 8:nvlink4: {a}")
        check("--list-devices" in pcc(model, "--link=nvlink9", code=2).stderr, "a link that is not known")
        for shell, row in (("bash", r"--devices\|-d\) .*\n.*"), ("zsh", r"'\*--devices=.*files\\:"),
                           ("fish", r"-l devices .*")):
            found = re.search(row, pcc(f"--help-completion={shell}").stdout)
            check(found and all(w in found[0] for w in ("rtx4090", "detect", "dapple-a")),
                  f"completion of -d in {shell}: {found}")
        page = subprocess.run([sys.executable, ROOT / "tools/device_table.py", "--check"], check=False,
                              env={**os.environ, "PCC": PCC})
        check(page.returncode == 0, "the table of ir/cluster/cluster.md is not what tools/device_table.py writes")
        detect(model, tmp)
        groups(model, tmp)
    return finish()


sys.exit(main())
