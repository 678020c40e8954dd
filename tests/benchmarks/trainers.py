"""How long a visitor waits for a control while two others train a model, against the same control on an idle server.

    python tests/benchmarks/trainers.py [--trainers 2] [--moves 60]

The trainers press Start on the training page and do what a browser then does: run the moving part again after every interval that the
server asked for. Needs a quiet machine. Prints medians and the ninth decile in milliseconds, and their ratios.
"""

import argparse
import asyncio
import contextlib
import statistics
import sys
import time
from pathlib import Path

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # so that it runs as a script

from tests.benchmarks.rerun import ROOT, Tab, server  # noqa: E402

RUN = "training.task=Pronoun+and+colour&training.speed=50&training.n_steps=1000"


class TrainerTab(Tab):
    """A tab in which a model is trained."""

    def __init__(self, port, number):
        super().__init__(f"trainer {number}", port, "training", RUN, "training.row")
        self.start, self.fragment, self.interval, self.ticks = None, "", 0.0, 0

    def note(self, answer):
        super().note(answer)
        if answer.delta.WhichOneof("type") == "new_element" and answer.delta.new_element.WhichOneof("type") == "button":
            button = answer.delta.new_element.button
            if button.label == "Start":
                self.start = button.id

    async def send(self, *, press=False):
        """A run of the whole page with Start pressed, or of its moving part."""
        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.page_script_hash = self.query, self.hash
        state.context_info.timezone, state.context_info.locale = "UTC", "en-US"
        state.context_info.url = f"http://127.0.0.1:{self.port}/{self.page}"
        if press:
            state.widget_states.widgets.add(id=self.start, trigger_value=True)
        else:
            state.fragment_id, state.is_auto_rerun = self.fragment, True
        await self.socket.send(message.SerializeToString())
        while True:
            answer = ForwardMsg.FromString(await asyncio.wait_for(self.socket.recv(decode=False), 60))
            kind = answer.WhichOneof("type")
            if kind == "auto_rerun":
                self.fragment, self.interval = answer.auto_rerun.fragment_id, answer.auto_rerun.interval
            elif kind == "delta":
                self.note(answer)
            elif kind == "script_finished":
                return

    async def train(self):
        """Press Start, then tick until the task is cancelled."""
        await self.send(press=True)
        assert self.fragment, "the page asked for no timer: the run did not start"
        while True:
            await asyncio.sleep(self.interval)
            await self.send()
            self.ticks += 1


async def moved(tab, n_moves):
    """The seconds that each of n_moves moves of the tab's control took."""
    tab.times.clear()
    for _ in range(n_moves):
        await tab.move()
        await asyncio.sleep(0.15)
    return list(tab.times)


async def measure(port, n_trainers, n_moves):
    visitor = Tab("visitor", port, "attention", "", "attention.row")
    async with contextlib.AsyncExitStack() as stack:
        await visitor.open(stack)
        idle = await moved(visitor, n_moves)
        trainers = [TrainerTab(port, number) for number in range(n_trainers)]
        for trainer in trainers:
            await trainer.open(stack)
        running = [asyncio.create_task(trainer.train()) for trainer in trainers]
        await asyncio.sleep(1)
        began = time.perf_counter()
        busy = await moved(visitor, n_moves)
        seconds = time.perf_counter() - began
        for task in running:
            if task.done():
                task.result()
            task.cancel()
    return idle, busy, [trainer.ticks / seconds for trainer in trainers]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trainers", type=int, default=2)
    parser.add_argument("--moves", type=int, default=60)
    args = parser.parse_args()
    with server(ROOT, "app.py") as port:
        idle, busy, ticks = asyncio.run(measure(port, args.trainers, args.moves))
    rows = {"idle": idle, f"while {args.trainers} train": busy}
    medians = {name: (statistics.median(times) * 1000, statistics.quantiles(times, n=10)[-1] * 1000) for name, times in rows.items()}
    for name, (median, ninth) in medians.items():
        print(f"{name:16} median {median:6.1f} ms, ninth decile {ninth:6.1f} ms")
    (one, one_ninth), (other, other_ninth) = medians.values()
    print(f"ratio of medians {other / one:.2f}, of ninth deciles {other_ninth / one_ninth:.2f}; ticks a second of each trainer: "
          + ", ".join(f"{tick:.1f}" for tick in ticks))


if __name__ == "__main__":
    main()
