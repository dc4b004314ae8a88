"""main.py FOLDER PROGRAMS [OPTION...]: plays the stories and judges the images.

`run` starts it in namespaces of its own, and describes the options. FOLDER is a tmpfs with the compiled `recorder` and
`unsynced.so`.
"""

import argparse
import bisect
import collections
import dataclasses
import multiprocessing
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time
import traceback

sys.dont_write_bytecode = True
# The daemon under test is that of the OAuthServers suite.
sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "OAuthServers"))

import disk
import judge
import provider as providers
from record import MODES, Images, Record, Timeline, copy_sparse
from story import Story
from suite.daemon import Daemon


@dataclasses.dataclass
class Job:
    kind: str
    seed: int
    options: argparse.Namespace


@dataclasses.dataclass
class Result:
    kind: str
    seed: int
    counts: collections.Counter
    # What does not hold in the images, and whether the story was played to its end.
    defects: list
    seconds: float
    is_whole: bool = False
    entries: int = 0
    events: int = 0


class Space:
    """The free space of the story's disk."""

    def __init__(self, folder):
        self.ballast = folder / "ballast"

    def fill(self):
        disk.fill(self.ballast)

    def free(self):
        # XFS frees the blocks when its log is written. Without a sync, that takes up to half a minute.
        with open(self.ballast, "wb") as file:
            os.fsync(file.fileno())
        self.ballast.unlink()


def work(job):
    began = time.monotonic()
    folder = job.options.folder / f"{job.kind}-{job.seed}"
    folder.mkdir()
    result = Result(job.kind, job.seed, collections.Counter(), [], 0)
    try:
        perform(job, folder, result)
        result.is_whole = True
    except Exception as error:
        result.defects.append(f"the story ended early: {''.join(traceback.format_exception(error)[-6:])}")
        if (folder / "log").exists():
            result.defects.append((folder / "log").read_text(errors="replace")[-3000:])
    shutil.rmtree(folder, ignore_errors=True)
    result.seconds = time.monotonic() - began
    return result


def perform(job, folder, result):
    options = job.options
    base, record_file = folder / "base", folder / "record"
    disk.make(job.kind, base)
    provider = providers.Provider()
    daemon = Daemon(options.programs, folder / "daemon", provider, "kiosk", **provider.settings)
    mounted = folder / "mounted"
    daemon.state = mounted / "state"
    if options.without_fsync:
        daemon.variables = {"LD_PRELOAD": str(options.folder / "unsynced.so"), "SHIM_SKIPS": options.without_fsync}

    timeline = Timeline(record_file)
    play(job, folder, provider, daemon, timeline)
    record = Record(record_file)
    first = record.count(timeline.events[0].position)
    result.entries = record.count(timeline.events[-1].position) - first
    result.events = len(timeline.events)

    images = Images(job.kind, record, base, folder / "durable", first if options.ignore_flushes else None)
    for number, (count, seen, mode) in enumerate(cuts(job, record, timeline, first)):
        image = folder / "image"
        images.write(count, mode, random.Random(f"{job.seed} {number}"), image)
        if options.keep:
            copy_sparse(image, folder / "cut")
        expected = judge.Expectation(timeline.events[:seen])
        try:
            result.counts[found(job, image, mounted, daemon, provider, expected)] += 1
        except judge.Defect as defect:
            result.counts["DEFECT"] += 1
            result.defects.append(f"image {number}, after {count - first} entries and {seen} events, {mode}: {defect}")
            if options.keep:
                keep(job, folder, number, timeline.events[:seen], daemon)


def play(job, folder, provider, daemon, timeline):
    """Plays the story on the recording disk."""
    fuse = folder / "fuse"
    fuse.mkdir()
    image = folder / "recorded"
    shutil.copyfile(folder / "base", image)
    subprocess.run(["fallocate", "--dig-holes", image], check=True)
    recorder = subprocess.Popen(
        [job.options.folder / "recorder", image, timeline.record, fuse], stdout=subprocess.PIPE,
    )
    if not recorder.stdout.readline():
        raise EOFError(f"the recorder ended with status {recorder.wait()}")
    mounted = disk.Mounted(job.kind, fuse / "disk", folder / "mounted")
    provider.changed = lambda: timeline.add("provider", state=provider.snapshot())
    try:
        Story(random.Random(job.seed), provider, daemon, timeline, Space(mounted.folder)).play()
    finally:
        provider.changed = lambda: None
        daemon.kill()
        mounted.unmount()
        disk.libc.umount2(os.fsencode(fuse), 0)
        recorder.wait()


def cuts(job, record, timeline, first):
    """Draws cuts: the number of entries before it, the number of events before it, and what is left of the writes since the last
    flush. Half of the cuts are uniform over the entries, the others over the events."""
    draws = random.Random(f"{job.kind} {job.seed}")
    positions = [event.position for event in timeline.events]
    last = record.count(positions[-1])
    drawn = []
    for _ in range(job.options.images):
        if draws.random() < 0.5:
            count = draws.randint(first, last)
            position = record.position(count)
            seen = draws.randint(bisect.bisect_left(positions, position), bisect.bisect_right(positions, position))
        else:
            seen = draws.randint(1, len(positions))
            count = draws.randint(record.count(positions[seen - 1]), record.count(positions[min(seen, len(positions) - 1)]))
        drawn.append((count, max(seen, 1), draws.choice(MODES)))
    return sorted(drawn)


def found(job, image, folder, daemon, provider, expected):
    """Mounts an image, lets the judge start a daemon on it, and returns what the judge has found."""
    try:
        mounted = disk.Mounted(job.kind, image, folder)
    except disk.NotMounted as error:
        raise judge.Defect(f"the kernel does not mount the image: {error}") from None
    # Only the log of this image may be kept.
    daemon.log.unlink(missing_ok=True)
    try:
        return judge.judge(daemon, provider, expected, job.options.grace)
    except (OSError, KeyError) as error:
        raise judge.Defect(f"{type(error).__name__}: {error}") from error
    finally:
        daemon.kill()
        mounted.unmount()


def keep(job, folder, number, events, daemon):
    """Keeps what is needed to look at a defect."""
    target = pathlib.Path(job.options.keep) / f"{job.kind}-{job.seed}-{number}"
    target.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "--sparse=always", folder / "cut", target / "image"], check=True)
    (target / "log").write_text(daemon.last_words)
    (target / "events").write_text("".join(f"{event}\n" for event in events))


def main():
    parser = argparse.ArgumentParser(prog="run", add_help=False)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("programs")
    parser.add_argument("--images", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--stories", type=int, default=1)
    parser.add_argument("--file-system", action="append", choices=disk.KINDS)
    parser.add_argument("--keep")
    parser.add_argument("--grace", type=int, default=providers.GRACE)
    parser.add_argument("--ignore-flushes", action="store_true")
    parser.add_argument("--without-fsync", choices=("files", "folders"))
    options = parser.parse_args()
    jobs = [
        Job(kind, seed, options)
        for seed in range(options.seed, options.seed + options.stories)
        for kind in options.file_system or disk.KINDS
    ]
    # A disk without flushes has to lose sessions. Otherwise the judge would be worthless.
    has_losses = options.ignore_flushes or options.without_fsync == "files"
    totals = collections.defaultdict(collections.Counter)
    passed = True
    with multiprocessing.Pool(options.workers, maxtasksperchild=1) as pool:
        for result in pool.imap_unordered(work, jobs):
            totals[result.kind].update(result.counts)
            passed = passed and result.is_whole and bool(result.defects) == has_losses
            print(
                f"{result.kind}, seed {result.seed}: {result.entries} entries, {result.events} events, {text(result.counts)}, "
                f"in {result.seconds:.0f} s", flush=True,
            )
            for defect in result.defects[:1 if has_losses and result.is_whole else None]:
                print(f"    {defect}", flush=True)
    for kind, counts in totals.items():
        print(f"PowerCuts: {kind}: {text(counts)}")
    if has_losses and not passed:
        print("run: the judge has found no loss, or a story ended early")
    sys.exit(0 if passed else 1)


def text(counts):
    return f"{counts.total()} images (" + ", ".join(f"{count} {name}" for name, count in sorted(counts.items())) + ")"


main()
