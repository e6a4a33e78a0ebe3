"""The processes of a run with several ranks."""
from pathlib import Path


def ranks_of(folder):
    """The processes that run a split, by rank."""
    found = {}
    for p in Path("/proc").iterdir():
        try:
            words = (p / "cmdline").read_bytes().split(b"\0") if p.name.isdigit() else []
            if str(folder).encode() in words and words[0].endswith(b"/pcc-run"):
                values = dict(w.split(b"=", 1) for w in (p / "environ").read_bytes().split(b"\0") if b"=" in w)
                found[int(values.get(b"OMPI_COMM_WORLD_RANK", b"-1"))] = int(p.name)
        except OSError:
            pass
    return found
