#!/usr/bin/env python3
"""Runs the parts of a split folder as Ray's actors, one for each device that has parts.

    python3 split/ray_split.py [SAMPLE ...] [--address auto] [--samples N] [--output DIR] [--in-flight N] [--state]
                               [--map DEVICE=PLACE] [--provider DEVICE=PROVIDER[:OPTIONS]] [--threads N] [--exact]
                               [--by measured|calls|graph]

`pcc split/ --for=ray` puts this file beside run_split.py, which it needs, with ray, onnxruntime and numpy; it is the
module pcc.ray_split, too. Samples, outputs, providers and states are those of run_split.py. An actor runs the parts of
its device in the order of schedule.json. At most --in-flight samples are on their way (default: as many as
schedule.json was proven for).

--by: each part of a sample is a call of its actor, whose outputs stay in Ray's object store until their readers have
them (calls); or all parts are one of Ray's compiled graphs, whose tensors go through buffers that stay (graph). By
default (measured) the first samples run by calls, some more by a graph, and the others in the faster way, which the
figures tell. A graph needs sizes that are known before, at most half of the object store, no states, and no devices
that take turns; where it lacks one of these, samples run by calls.

--address: of a cluster: auto, HOST:PORT or ray://HOST:PORT (default: a Ray of its own on this machine). --map says
where a device's actor is placed: acc0=node:10.0.0.2 or another resource of the cluster, acc1=zone=a a node's label;
both repeat. A device whose provider is CUDA or TensorRT gets a GPU of Ray's. Each actor reads its parts from the
folder, which lies at the same path on each machine; --ship sends its files, up to 256 MiB, by Ray's working_dir.

Parts keep nothing from sample to sample: where an actor is lost it is started again, up to 3 times, and runs the lost
samples anew. The first error of a part ends the run: exit 1. Exit 2: a wrong option. Ctrl-C: exit 130.
"""
from __future__ import annotations

import argparse
import itertools
import json
import logging
import os
import socket
import sys
import time
import types
from pathlib import Path
from typing import Any, Deque, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple, Union
from collections import deque

if __package__:
    from . import run_split as rs
else:
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    import run_split as rs

SHIPPED = 256 << 20  # bytes of a folder that are sent to other machines
RESTARTS = 3  # how often a lost actor is started again, and each of its calls made again
PLACED_S = 60  # seconds in which all actors must be placed
TRIED = 16  # samples that measure calls or a graph, beside those that are on their way at first
NEVER_S = 1e9  # seconds: a part may take as long as it likes
HEADER = 4096  # bytes of a message of a graph beside its elements, and for each of its tensors; Ray's own took 600


class Device:
    """An actor: the parts of a device, each in a session. folder: of the split, "": the actor's working folder;
    parts, values: rows of the manifest; the others as for run_split.Part and run_split.Runner."""

    def __init__(self, folder: str, parts: List[Dict[str, Any]], provider: str, options: Mapping[str, Any],
                 threads: int, exact: bool, values: Dict[str, Any]):
        rs.ort.set_default_logger_severity(4)
        self.values = values
        # what run_split.Part reads of its Runner
        like: Any = types.SimpleNamespace(values=values, folder=Path(folder or os.getcwd()), threads=threads,
                                          exact=exact, options=None)
        self.parts = {p["file"]: rs.Part(like, p, provider, options) for p in parts}
        for part in self.parts.values():
            part.goes = {name: ("cpu", 0) for name in part.outputs}

    def run(self, file: str, number: int, *values: Any) -> Any:
        """Runs the part `file` for sample `number` on the values of its inputs, in their order. Returns its output, or
        a tuple of several outputs. Raises NoRun."""
        part, began = self.parts[file], time.perf_counter()
        try:
            made = part.run(dict(zip(part.inputs, values)))
        except Exception as e:
            raise rs.NoRun(f"{file} ({part.device}), sample {number}: {str(e).splitlines()[0][:300]}") from None
        part.took(time.perf_counter() - began)
        out = [rs._to_python(made[n], self.values[n]) for n in part.outputs]  # pylint: disable=protected-access
        return out[0] if len(out) == 1 else tuple(out)

    def pid(self) -> int:
        """The id of the actor's process."""
        return os.getpid()

    def took(self) -> Dict[str, Tuple[int, float, float]]:
        """How often each part has run, the seconds of its first run, and of all later ones together, by its file."""
        return {file: (p.runs, p.first_s, p.later_s) for file, p in self.parts.items()}


class _Remote:
    """A part that an actor runs; it has the fields of the parts of run_split.Runner."""

    def __init__(self, entry: Mapping[str, Any], provider: str):
        self.file, self.device = entry["file"], entry["device"]
        self.inputs, self.outputs = entry["inputs"], entry["outputs"]
        self.planned, self.provider, self.memory = entry.get("compute_s"), provider, ("cpu", 0)
        self.goes: Dict[str, Any] = {}
        self.runs, self.first_s, self.later_s = 0, 0.0, 0.0

    takes = rs.Part.takes


def _ray() -> Any:
    """The module ray. Raises SplitError."""
    try:
        import ray  # pylint: disable=import-outside-toplevel
    except ImportError as e:
        raise rs.SplitError(f"ray is not installed for this Python ({sys.executable}): pip install ray") from e
    return ray


def _reach(address: Optional[str]) -> None:
    """Raises OSError unless something listens at HOST:PORT, for which Ray itself would wait long."""
    host, colon, port = (address or "").replace("ray://", "").rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host, int(port)), timeout=5).close()


def parse_map(words: Iterable[str], devices: Iterable[str]) -> Dict[str, Dict[str, Any]]:
    """Returns the options of each device's actor: {"acc0": {"resources": {"node:10.0.0.2": 0.001}}}."""
    known, found = set(devices), {}  # type: ignore[var-annotated]
    for word in (w for many in words for w in many.split(",")):
        device, _, place = word.partition("=")
        if not place or device not in known:
            raise rs.BadOption(f"--map '{word}': expected DEVICE=PLACE with a device that has parts: "
                               f"{', '.join(sorted(known))}")
        if device in found:
            raise rs.BadOption(f"--map: device '{device}' comes twice")
        key, label, value = place.partition("=")
        found[device] = {"label_selector": {key: value}} if label else {"resources": {place: 0.001}}
    return found


def _rounds(manifest: Mapping[str, Any], folder: Path) -> Dict[str, int]:
    """In which round of a sample each part runs, by its file, as the lists of schedule.json say: 0 for its first part.
    {}: there is no schedule, and all parts of a sample are begun before those of the next sample."""
    if not manifest.get("schedule"):
        return {}
    lists = json.loads((folder / manifest["schedule"]).read_text(encoding="utf-8"))["devices"]
    return {i["compute"]: -i["sample"] for d in lists for i in d["compute"] if "compute" in i}


def _line(error: Any) -> str:
    """The last line of an error's text; its class if it has no text."""
    text = str(error).strip().splitlines()
    return text[-1][:200] if text else type(error).__name__


def _own(value: Any) -> Any:
    """A copy of an array that lies in a graph's buffer: Ray writes the buffer again when nobody holds the array."""
    return value.copy() if hasattr(value, "copy") else value


class _Pace:
    """Measures the seconds from one sample of a stream to the next (`each`; 0: not known). first: how many samples at
    the beginning do not count, as many are on their way at first."""

    def __init__(self, first: int):
        self.first, self.each = first, 0.0

    def of(self, outputs: Iterable[rs.Outputs]) -> Iterator[rs.Outputs]:
        """Passes on the outputs; notes when each comes, and sets `each` when all have come."""
        came = []
        for made in outputs:
            came.append(time.perf_counter())
            yield made
        if len(came) > self.first + 1:
            self.each = (came[-1] - came[self.first]) / (len(came) - 1 - self.first)


class RayRunner(rs.Runner):
    """The parts of a split folder as Ray's actors, with the run() and stream() of run_split.Runner. close() ends the
    actors, and Ray itself if this object has started it.

    address: of Ray's cluster, None: a Ray of its own. places: as for parse_map(). ship: the folder's files are sent to
    the other machines. by: how tensors go: by "calls", by a compiled "graph", or the faster of both ("measured"). The
    others as for run_split.Runner. Raises SplitError."""

    def __init__(self, folder: Union[str, Path], address: Optional[str] = None,
                 providers: Optional[Mapping[str, rs.Provider]] = None, *, places: Iterable[str] = (),
                 threads: int = 0, exact: bool = False, ship: bool = False, by: str = "measured"):
        self.ray = _ray()
        self.actors: Dict[str, Any] = {}  # by device
        self.by, self.graph = by, None  # graph: the compiled graph, while it is used; else None
        self.said = ""  # how tensors of the last stream went from actor to actor, and why
        self.words, self.ship = list(places), ship
        self.began = not self.ray.is_initialized()  # this object starts Ray
        where = address or "a Ray of its own"
        env: Dict[str, Any] = {"env_vars": {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}}
        if ship:
            env["working_dir"] = self._shipped(Path(folder))
        try:
            if self.began:
                _reach(address)
                self.ray.init(address=address, runtime_env=env, log_to_driver=False, logging_level="ERROR",
                              include_dashboard=False if address is None else None)
        except Exception as e:
            raise rs.SplitError(f"--address {where}: {str(e).splitlines()[0][:200]}: expected a cluster that runs: "
                                "ray start --head") from e
        try:
            super().__init__(folder, providers, threads=threads, exact=exact)
        except BaseException:
            self.close()
            raise

    @staticmethod
    def _shipped(folder: Path) -> str:
        """The path of the folder, for Ray's working_dir. Raises SplitError if the folder is too large."""
        size = sum(p.stat().st_size for p in folder.iterdir() if p.is_file())
        if size > SHIPPED:
            raise rs.SplitError(f"--ship: {folder} has {size >> 20} MiB, at most {SHIPPED >> 20} are sent: put it "
                                "where all machines have it at the same path")
        return str(folder.resolve())

    def _open_parts(self, places: Mapping[str, Any], tell: rs.Teller) -> List[Any]:
        """Starts the actors, which hold the sessions of the parts."""
        rows = self.manifest["parts"]
        self.rounds = _rounds(self.manifest, self.folder)
        devices = sorted({d for p in rows for d in p.get("replicas") or [p["device"]]})
        mapped = parse_map(self.words, devices)
        kind = self.ray.remote(Device)
        for d in devices:
            provider, options = places[d]
            mine = [p for p in rows if d in (p.get("replicas") or [p["device"]])]
            gpu = {"num_gpus": 1} if rs.MEMORY.get(provider) else {}
            if gpu:  # Ray shows an actor its own GPU alone
                options = {k: v for k, v in options.items() if k != "device_id"}
            self.actors[d] = kind.options(num_cpus=0, max_restarts=RESTARTS, max_task_retries=RESTARTS, **gpu,
                                          **mapped.get(d, {})).remote(
                "" if self.ship else str(self.folder.resolve()), mine, provider, options, self.threads, self.exact,
                self.values)
        self._wait(devices)
        return [_Remote(p, places[p["device"]][0]) for p in rows]

    def _wait(self, devices: List[str]) -> None:
        """Waits until all actors have opened their sessions. Raises SplitError if one is not placed in time."""
        there = {d: self.actors[d].took.remote() for d in devices}
        done, left = self.ray.wait(list(there.values()), num_returns=len(there), timeout=PLACED_S)
        if left:
            lost = [d for d in devices if there[d] in left]
            raise rs.SplitError(f"no place for {', '.join(lost)} within {PLACED_S} s: the cluster has "
                                f"{self.ray.cluster_resources()}")
        self._get(done)

    def _get(self, refs: Any) -> Any:
        """The values of Ray's references, as ray.get() returns them. Raises SplitError."""
        try:
            return self.ray.get(refs)
        except self.ray.exceptions.RayTaskError as e:
            raise (e.cause if isinstance(e.cause, rs.SplitError) else rs.NoRun(str(e.cause).splitlines()[0])) from None
        except self.ray.exceptions.RayActorError as e:
            cause = getattr(e, "cause", None)
            text = str(cause or e).strip().splitlines()
            raise rs.SplitError(text[-1][:300] if text else "an actor was lost") from None

    def _submit(self, part: Any, table: Dict[str, Any], number: int) -> None:
        """Calls the actor of a part for sample `number`: the outputs in the sample's table become Ray's references. Of
        devices that take turns, the sample's number tells which is next."""
        entry = self.manifest["parts"][self.parts.index(part)]
        replicas = entry.get("replicas") or [part.device]
        actor = self.actors[replicas[number % len(replicas)]]
        made = actor.run.options(num_returns=len(part.outputs)).remote(part.file, number,
                                                                       *(table[n] for n in part.inputs))
        table.update(zip(part.outputs, [made] if len(part.outputs) == 1 else made))

    def run(self, sample: rs.Sample, options: Any = None) -> rs.Outputs:
        return next(iter(self.stream([sample], in_flight=1)))

    def stream(self, samples: Iterable[rs.Sample], *, in_flight: int = 0, state: bool = False) -> Iterator[rs.Outputs]:
        """The outputs of each sample, in order, by calls of actors or by a graph, as self.by says. in_flight: the most
        samples that are begun before the outputs of the first of them are asked for; 0: _in_flight()."""
        in_flight, source = in_flight or self._in_flight(), enumerate(samples)
        why = "--by=calls" if self.by == "calls" else self._no_graph(in_flight, state)
        self.said = f"tensors by Ray's object store: {why}" if why else "tensors by Ray's compiled graphs"
        if not why and self.by == "measured":
            calls, graph = _Pace(in_flight), _Pace(in_flight)
            yield from calls.of(self._by_calls(itertools.islice(source, in_flight + TRIED), in_flight, state))
            self.said = "tensors by Ray's object store: too few samples to try a graph"
            yield from graph.of(self._by_graph(itertools.islice(source, in_flight + TRIED), in_flight))
            if self.graph and calls.each and graph.each:
                faster = graph.each < calls.each
                self.said = (f"tensors by Ray's {'compiled graphs' if faster else 'object store'}: a sample took "
                             f"{1e3 * graph.each:.3g} ms by a graph, {1e3 * calls.each:.3g} by calls")
                why = "" if faster else "slower"
        yield from self._by_calls(source, in_flight, state) if why else self._by_graph(source, in_flight)

    def _by_calls(self, source: Iterable[Tuple[int, rs.Sample]], in_flight: int, state: bool) -> Iterator[rs.Outputs]:
        """Does the work of stream() by calls of actors. source: samples with their numbers."""
        rounds = {} if state else self.rounds
        flights: Deque[Tuple[int, Dict[str, Any], List[Any]]] = deque()  # number, tensors, parts that wait
        before: Dict[str, Any] = {}
        for number, sample in source:
            while len(flights) >= in_flight:
                self._advance(flights, rounds, None)
                yield self._out(flights)
            table = self._begin(sample, state)
            self._add_constants(table)
            for into, out in self.states if state else []:
                if into not in table:
                    table[into] = before[out] if before else self._zeros(into)
            flights.append((number, table, list(self.parts)))
            self._advance(flights, rounds, number)
            before = table
        while flights:
            self._advance(flights, rounds, None)
            yield self._out(flights)

    def _no_graph(self, in_flight: int, state: bool) -> str:
        """Returns why this stream cannot run by a graph; "": it can, and self.room is set to the bytes of a graph's
        buffer."""
        known = {t["name"]: t.get("bytes") for kind in ("inputs", "tensors", "outputs") for t in self.manifest[kind]}
        sizes = [known.get(n) for p in self.parts for n in p.inputs + p.outputs]
        if state:
            return "states go from sample to sample"
        if any(len(p.get("replicas") or []) > 1 for p in self.manifest["parts"]):
            return "devices take turns"
        if None in sizes:
            return "sizes of tensors are not known before"
        self.room = sum(filter(None, sizes)) + HEADER * (1 + len(sizes))  # enough for any message of the graph
        # for each part and for the inputs, of as many samples as _compile() lets be on their way
        held = self.room * (in_flight + 1) * (len(self.parts) + 1)
        store = self.ray.cluster_resources().get("object_store_memory", 0)
        return "" if held <= store / 2 else f"a graph would hold {held >> 20} MiB of {int(store) >> 20} of the store"

    def _compile(self, in_flight: int) -> Any:
        """Compiles one of Ray's graphs: it has all parts, takes the number of a sample and the tensors of _given(), and
        makes the tensors of _wanted()."""
        from ray import dag  # pylint: disable=import-outside-toplevel
        settings = dag.context.DAGContext.get_current()
        settings.submit_timeout = settings.get_timeout = NEVER_S
        logging.getLogger("ray.dag.compiled_dag_node").setLevel(logging.CRITICAL)
        with dag.InputNode() as given:
            table = {n: given[k + 1] for k, n in enumerate(self._given())}
            for p in self.parts:
                made = self.actors[p.device].run.options(num_returns=len(p.outputs)).bind(
                    p.file, given[0], *(table[n] for n in p.inputs))
                table.update(zip(p.outputs, [made] if len(p.outputs) == 1 else made))
            outputs = dag.MultiOutputNode([table[n] for n in self._wanted()])
        return outputs.experimental_compile(_max_inflight_executions=in_flight + 1, _buffer_size_bytes=self.room)

    def _given(self) -> List[str]:
        """The tensors that parts read and no part makes."""
        made = {n for p in self.parts for n in p.outputs}
        return list(dict.fromkeys(n for p in self.parts for n in p.inputs if n not in made))

    def _wanted(self) -> List[str]:
        """The tensors that parts make and no part reads, and the model's outputs that parts make."""
        read = {n for p in self.parts for n in p.inputs}
        names = {p for n in self.output_names for p in (self.joins[n].pieces if n in self.joins else [n])}
        return [n for p in self.parts for n in p.outputs if n in names or n not in read]

    def _by_graph(self, source: Iterable[Tuple[int, rs.Sample]], in_flight: int) -> Iterator[rs.Outputs]:
        """Does the work of stream() by a graph. If the graph is lost, with an actor or for want of room, the samples
        that it has not given back, and all later ones, run by calls."""
        flights: Deque[Tuple[int, rs.Sample, Dict[str, Any], Any]] = deque()
        source, lost = iter(source), False  # flights: number, sample, table, references of the graph's outputs
        while not lost:
            following = next(source, None) if len(flights) < in_flight else None
            try:
                if following:
                    flights.append((*following, {}, None))
                    table = self._begin(following[1], False)
                    self._add_constants(table)
                    self.graph = self.graph or self._compile(in_flight)
                    flights[-1] = (*following, table,
                                   self.graph.execute(following[0], *(table[n] for n in self._given())))
                    continue
                if not flights:
                    return
                table = {**flights[0][2], **dict(zip(self._wanted(), map(_own, self.ray.get(flights[0][3]))))}
            except self.ray.exceptions.RayError as e:
                cause = getattr(e, "cause", None)
                if isinstance(cause, rs.SplitError):
                    raise cause from None
                self.said, lost = "tensors by Ray's object store: its graph was lost: " + _line(cause or e), True
                self._drop_graph()
                continue
            flights.popleft()
            yield self._end(table)
        yield from self._by_calls(itertools.chain([f[:2] for f in flights], source), in_flight, False)

    def _drop_graph(self) -> None:
        """Ends the graph, if there is one; later samples run by calls."""
        graph, self.graph, self.by = self.graph, None, "calls"
        if graph:
            graph.teardown()

    def _in_flight(self) -> int:
        """The number of samples for which schedule.json was proven; without a schedule two for each actor."""
        name = self.manifest.get("schedule")
        proven = json.loads((self.folder / name).read_text(encoding="utf-8"))["in_flight"] if name else 0
        return int(proven) or 2 * len(self.actors)

    def _advance(self, flights: Deque[Any], rounds: Mapping[str, int], now: Optional[int]) -> None:
        """Calls actors for the parts that are due in round `now`: of each sample the parts of this and earlier rounds
        that were not begun. now None: all parts of the first sample."""
        for number, table, parts in flights:
            due = [p for p in parts if rounds.get(p.file, 0) <= (now - number if now is not None else 1 << 30)]
            for part in due:
                self._submit(part, table, number)
                parts.remove(part)
            if now is None:
                return

    def _out(self, flights: Deque[Any]) -> rs.Outputs:
        """Removes the first sample from `flights`, waits for its outputs and returns them."""
        _, table, _ = flights.popleft()
        names = [p for n in self.output_names for p in (self.joins[n].pieces if n in self.joins else [n])]
        far = [n for n in names if isinstance(table[n], self.ray.ObjectRef)]
        return self._end({**table, **dict(zip(far, self._get([table[n] for n in far])))})

    def figures(self) -> None:
        """Sets runs, first_s and later_s of each part to what the actors have measured."""
        for actor in self.actors.values():
            for part in self.parts:
                took = self._get(actor.took.remote()).get(part.file)
                part.runs, part.first_s, part.later_s = took if took and took[0] else (part.runs, part.first_s,
                                                                                      part.later_s)

    def __enter__(self) -> "RayRunner":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        self._drop_graph()
        for actor in self.actors.values():
            self.ray.kill(actor)
        self.actors = {}
        if self.began and self.ray.is_initialized():
            self.ray.shutdown()


def _run(args: argparse.Namespace) -> str:
    """Runs the samples and writes their outputs if asked to. Returns the figures as text."""
    runner = RayRunner(args.folder, args.address, rs.parse_providers(args.provider), places=args.map,
                       threads=args.threads, exact=args.exact, ship=args.ship, by=args.by)
    try:
        if args.state and not runner.states:
            raise rs.SplitError("--state: the model keeps no state that pcc knows of (pcc --state in=out says which)")
        if args.output:
            Path(args.output).mkdir(parents=True, exist_ok=True)
        samples = rs._Samples(args, runner, rs._silent)  # pylint: disable=protected-access
        clock = rs._Clock()  # pylint: disable=protected-access
        for outputs in runner.stream(samples, in_flight=args.in_flight, state=args.state):
            clock.came()
            if args.output:
                rs.write_outputs(Path(args.output) / f"sample{clock.n - 1}.npz", outputs)
        runner.figures()
        return rs._figures(runner, clock, [runner.said], [])  # pylint: disable=protected-access
    finally:
        runner.close()


def _parse(argv: Optional[List[str]]) -> argparse.Namespace:
    p = argparse.ArgumentParser(description="Runs the parts of a split folder as Ray's actors.")
    p.add_argument("sample", nargs="*", metavar="SAMPLE", help="as for run_split.py (default: random)")
    p.add_argument("--folder", default=str(Path(__file__).resolve().parent), help="the split (default: this file's)")
    p.add_argument("--address", metavar="ADDRESS",
                   help="auto, HOST:PORT or ray://HOST:PORT (default: a Ray of its own)")
    p.add_argument("--samples", type=int, default=0, metavar="N", help="how many (default: as many as files, or 1)")
    p.add_argument("--output", metavar="DIR", help="keep the outputs as DIR/sampleK.npz")
    p.add_argument("--in-flight", type=int, default=0, metavar="N",
                   help="samples on their way (default: schedule.json's)")
    p.add_argument("--state", action="store_true", help="feed states back from sample to sample")
    p.add_argument("--map", action="append", default=[], metavar="DEVICE=PLACE",
                   help="where its actor is placed: acc0=node:10.0.0.2, a resource; acc1=zone=a, a label")
    p.add_argument("--provider", action="append", default=[], metavar="DEVICE=PROVIDER[:OPTIONS]",
                   help="acc0=cuda (default: cpu)")
    p.add_argument("--threads", type=int, default=0, metavar="N", help="of each session (default: ONNX Runtime's)")
    p.add_argument("--by", choices=("measured", "calls", "graph"), default="measured",
                   help="how tensors go: by calls and the object store, a compiled graph, or the faster of both")
    p.add_argument("--exact", action="store_true", help="no optimisations: the bits of the whole model run alike")
    p.add_argument("--ship", action="store_true", help="send the folder's files to the other machines")
    p.add_argument("--seed", type=int, default=0, help="of random inputs")
    args = p.parse_args(argv)
    if args.samples < 0 or args.in_flight < 0 or args.threads < 0:
        p.error("--samples, --in-flight and --threads cannot be negative")
    return args


def main(argv: Optional[List[str]] = None) -> int:
    args = _parse(argv)
    try:
        print(_run(args), flush=True)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return rs.INTERRUPTED
    except (rs.SplitError, OSError) as e:
        named = isinstance(e, OSError) and e.filename
        print(rs.printable(f"error: {e.filename}: {e.strerror}" if named else f"error: {e}"), file=sys.stderr)
        return 2 if isinstance(e, rs.BadOption) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
