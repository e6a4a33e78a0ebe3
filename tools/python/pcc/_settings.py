"""The settings of pcc.plan() and pcc.split(), for type checkers.

Made by tools/python/settings.py of the library's own list: do not edit."""
from __future__ import annotations

import os
from typing import Any, Literal, Mapping, Optional, Sequence, TypedDict, Union

One = Union[str, int, float, "os.PathLike[str]"]  # a value as text, or as Python has it
Many = Union[One, Sequence[One], Mapping[Any, One]]  # several values: a list, or {"a": 1} for "a=1"


class Settings(TypedDict, total=False):
    """The long options of the program, "_" for "-"; None says nothing."""

    # each accelerator's link to the host: '25GB/s,10us', 'pcie4x16'
    link: Optional[One]
    # accelerators stand in groups of N, joined by such a link or at a share of the cost: '4:300GB/s,2us',
    # '8:nvlink4'
    group: Optional[One]
    # levels of links, innermost first, each with its size and, for training, the rate of an AllReduce:
    # '8:25GB/s,0us/2:3GB/s,0us'
    levels: Optional[One]
    # what devices compute f32 in, as their runtime is set: f32, tf32, f16, bf16 or i8, of a class as in
    # 'f16:a100' (default: f32)
    precision: Optional[One]
    # of each accelerator's memory, left to the runtime: '10%', '2GiB' (default: 0)
    reserve: Optional[One]
    # bytes per second of an AllReduce over several groups (default: the link's)
    allreduce: Optional[str]
    # samples of all micro-batches
    global_batch: Optional[Union[int, str]]
    # the gradient of a parameter, where updates apart take another value for it (repeats)
    gradient: Optional[Many]
    # the value in the next step of an initializer that no gradient leads to, as of a count of steps, if the
    # output is not called INITIALIZER_new; itself: it stays (repeats)
    next: Optional[Many]
    # multiply a workload's transfers: 1000 where a file has them in seconds, not ms
    transfer_scale: Optional[One]
    # edges of a workload that leave a node at unequal costs: those of one cost are one tensor, or each is one
    uneven_edges: Optional[Literal["shared", "apart"]]
    # plan for this size of a symbolic dimension; '?=N': of those without a name (repeats)
    dim: Optional[Many]
    # an input and output that hold state on one device (repeats)
    state: Optional[Many]
    # external data may be reached through links
    allow_links: Optional[bool]
    # times and memory from a CSV or JSON table or ONNX Runtime's profile (repeats; passes/cost/costs.md)
    costs: Optional[Many]
    # what devices of a class cannot run: lines [domain.]OpType, or where an engine puts the nodes (repeats;
    # docs/devices.md)
    support: Optional[Many]
    # the same, measured at batch size B: what two sizes or more predict for that of dim is planned with (repeats)
    profile_at: Optional[Many]
    # compare what profile_at predicts for batch size B with a measurement (repeats)
    profile_check: Optional[Many]
    # what plans are shown by (default: the objective)
    judge: Optional[Literal["time-per-sample", "makespan", "iteration-time", "latency"]]
    # as few parts as can be, or an end wherever a value comes or goes, so that parts take one sample as long as
    # nodes do (auto: as few, unless these save 5 % of a makespan)
    cut: Optional[Literal["auto", "few", "transfers"]]
    # fix the nodes whose name or path matches (repeats)
    pin: Optional[Many]
    # cut behind the nodes whose name or path matches (repeats)
    cut_at: Optional[Many]
    # never cut between two nodes whose names or paths match (repeats)
    no_cut: Optional[Many]
    # never cut inside a layer that repeats: all its copies stay whole
    keep_blocks: Optional[bool]
    # for one planner: '30s'; then the best plan so far
    time_limit: Optional[str]
    # sets of nodes that a planner may visit in its search
    max_states: Optional[Union[int, str]]
    # hide a warning (warnings="no-NAME") or let it fail the run (warnings="error", warnings="error=NAME"); see
    # below (repeats)
    warnings: Optional[Many]
    # whether model inputs and outputs cost transfers (default: paid)
    io: Optional[Literal["paid", "free"]]
    # share of the peak rates that is reached (default: 1.0)
    efficiency: Optional[Union[float, str]]
    # transfers of a device after its computing, beside it, or in and out apart (default: sum)
    overlap: Optional[Literal["sum", "max", "duplex"]]
    # what the plan is to make small: the time of each of many samples, that of one alone (latency: by subgraphs),
    # or of a training iteration (default: time-per-sample)
    objective: Optional[Literal["time-per-sample", "makespan", "iteration-time", "latency"]]
    # one sample: between two accelerators over the host, two hops, or in one (default: host)
    network: Optional[Literal["host", "direct"]]
    # one sample: what a transfer holds while it lasts (default: port; docs/goals.md)
    contention: Optional[Literal["port", "none", "link", "half", "rx", "blocking", "baechi"]]
    # one sample: who is next on a device: by the plan, by becoming ready, by the longest way to the end (default:
    # plan)
    dispatch: Optional[Literal["plan", "fifo", "level"]]
    # a device has room for all that its nodes make, or for what is there at once (default: live; sum where a file
    # states the memory of nodes)
    memory_model: Optional[Literal["sum", "live", "paper"]]
    # samples on their way at once, for which devices have room, and which a folder's schedule.json is worked out
    # for (default: as many as ever meet)
    in_flight: Optional[Union[int, str]]
    # one sample, iteration: copies of the weights that an optimizer keeps beside them, in training: 1 for
    # momentum, 2 for Adam (default: 0, or those that the model has)
    optimizer: Optional[Literal["0", "1", "2", "3", "4", 0, 1, 2, 3, 4]]
    # latency: hosts' nodes run on the CPUs there are, or on as many as need be (default: list)
    cpus: Optional[Literal["list", "unbounded"]]
    # latency: subgraphs of an accelerator that have no slots keep out of each other's way, or may run at once
    # (default: exclusive)
    pieces: Optional[Literal["exclusive", "apart"]]
    # in which order a pipeline trains (default: dapple); time-per-sample knows pipedream, forward and backward in
    # turn (default), and gpipe, one after the other
    schedule: Optional[Literal["dapple", "gpipe", "zb-h1", "interleaved", "pipedream"]]
    # a stage may run on several devices, which take turns (auto-, anneal-, dp- and dpl-place)
    replicate: Optional[bool]
    # into how many micro-batches the batch is divided (default: 1)
    micro_batches: Optional[Union[int, str]]
    # samples of a micro-batch
    micro_batch_size: Optional[Union[int, str]]
    # samples that costs are about (default: as in a name like bert-pbs-2.txt)
    profiled_batch: Optional[Union[int, str]]
    # interleaved: how many stages a device has (default: more as long as that helps)
    stages_per_device: Optional[Union[int, str]]
    # forward passes before a stage's first backward one, by DAPPLE's policies (default: best)
    warmup: Optional[Union[int, str]]
    # run forward once more before backward, to keep less (default: auto, where it must be)
    recompute: Optional[Literal["auto", "none", "all"]]
    # gradients are exchanged after a stage's last backward pass, beside it, or also beside the next forward pass
    # (default: after)
    allreduce_overlap: Optional[Literal["after", "beside", "across"]]
    # iteration: parameters are updated in parts of their own, once, or within the parts that make gradients
    # (default: auto, apart where there are several micro-batches)
    update: Optional[Literal["auto", "apart", "within"]]
    # iteration: updates apart also where operators take samples of a batch together
    allow_batch_dependence: Optional[bool]
    # iteration: how the loss joins samples, where the model does not show it; pcc-run tries it
    loss: Optional[Literal["mean", "sum"]]
    # memory of a device beside weights and activations (default: 0)
    workspace: Optional[Union[int, str]]
    # zb-h1: share of backward that makes gradients of weights (default: 0.5)
    weight_gradient_share: Optional[Union[float, str]]
    # whether a link moves values and gradients at a time (default: full)
    duplex: Optional[Literal["full", "half"]]
    # iteration: whether a device's share of a micro-batch is whole samples (default: whole)
    slices: Optional[Literal["whole", "any"]]
    # iteration: whether an AllReduce takes the link to the stage before (default: shared)
    allreduce_lane: Optional[Literal["shared", "own"]]
    # what a part costs its device beside computing, a sample or pass (default: 5us; 0 for a model that comes with
    # times)
    part_cost: Optional[str]
    # bytes per second between copies of a training stage (default: the link's)
    sync: Optional[str]
    # form of the plan in the whole model; ir11: device configurations, too
    annotate: Optional[Literal["metadata", "ir11"]]
    # what .dot .svg .pdf .png and pcc --emit dot show (default: blocks)
    view: Optional[Literal["devices", "blocks", "nodes", "shards"]]
    # in .dot .svg .pdf .png, the nodes of this part: N
    part: Optional[One]
    # in .dot .svg .pdf .png, the nodes at most K arrows from NODE: NODE:2
    around: Optional[One]
    # samples that are shown (default: a few, until the plan's rhythm is seen); of an iteration of training its
    # micro-batches (default: all)
    replay: Optional[Union[int, str]]
    # in .gantt.svg, the memory of each device over time (objective="makespan" or iteration-time)
    curves: Optional[bool]
    # formats of the pictures in a folder: svg,pdf,png,dot,html (default: svg)
    pictures: Optional[Union[str, Sequence[Literal["svg", "pdf", "png", "dot", "html"]]]]
    # of a split: in weights.data, in a file for each part, in the parts, where they are, or in hard links
    # (default: auto: shared, or parts where for_ needs it)
    weights: Optional[Literal["shared", "parts", "inline", "original", "link", "auto"]]
    # engines for which a folder, also one that is there, gets files (docs/engines.md)
    for_: Optional[Union[str, Sequence[Literal["genai", "mpi", "olive", "openvino", "ray", "tensorrt", "triton",
                                               "web"]]]]
    # machines for for_="mpi", which share the devices in order (default: localhost)
    hosts: Optional[One]
    # samples that Triton may put into one request (default: 0: it changes none)
    triton_batch: Optional[Union[int, str]]
    # the model's own genai_config.json, for for_="genai": token ids, context length, search
    genai_base: Optional[One]
