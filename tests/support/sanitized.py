"""Whether pcc is built with sanitizers, where all takes several times as long: tests then try fewer cases, of every
kind (CMakeLists.txt says so in PCC_SANITIZED)."""
import os

SANITIZED = bool(os.environ.get("PCC_SANITIZED"))
