#!/usr/bin/env python3
"""Whether fusing ever loses: time per sample of `fuse,dp-place` beside the better of `dp-place` and
`dpl-place{starts=60}` without fuse, over 2, 3 and 4 devices.  Exit code 0: never above it."""
import sys
import tempfile
from pathlib import Path

from common import help_or_go, plan, table, verdict
from splits import models


def main():
    help_or_go()
    rows, worst = [], 0
    with tempfile.TemporaryDirectory() as folder:
        tmp = Path(folder)
        for name, model, _ in models(tmp):
            for devices in (2, 3, 4):
                value = []
                for passes in ("fuse,dp-place", "dp-place", "dpl-place{starts=60}"):
                    p, _ = plan(model, "-d", f"{devices}xa100", "--link", "1TB/s,0us", "-p", passes, tmp=tmp)
                    value.append(p["objective"]["value_s"])
                ratio = value[0] / min(value[1:]) if min(value[1:]) else 1
                worst = max(worst, ratio)
                rows.append([name, devices, *(f"{v * 1e6:.3f}" for v in value), f"{ratio:.4f}"])
    table(["model", "devices", "fuse,dp us", "dp us", "dpl us", "ratio"], rows)
    verdict(worst <= 1, f"largest ratio {worst:.6f}")


if __name__ == "__main__":
    sys.exit(main())
