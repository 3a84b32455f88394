"""Shards that work on disks which may be lost: then they go back to a copy, and a process that was taken for dead may
still send letters and write copies."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from spoor.lab.worlds import WrittenWorld
from spoor.store.copied_mail import CopiedMail
from spoor.store.copies import CopyName, CopyPlace, Moment, Replaced, moment_of
from spoor.store.local_folder import LocalFolder, local_path, opened_locally
from spoor.store.mail import Heard, Mail
from tests.crashing_shards import Crashed, Crashes, CrashingShard

COPY_POINTS = ("within a copy", "after a copy")
DAMAGE = ("a disk is lost", "a copy is torn", "a dead process goes on")


@dataclass(frozen=True)
class CrashingPlace(CopyPlace):
    crashes: Crashes

    def _ship_archive(self, moment: Moment) -> dict[str, int]:
        self.crashes.here("within a copy")
        return super()._ship_archive(moment)

    def check(self, generation: int) -> None:
        self.crashes.here("after a copy")
        super().check(generation)


class CopiedShard(CrashingShard):
    """Some crashes take the disk, and some of these the newest copy, too. `others` are all shards."""

    others: Sequence[CopiedShard] = ()

    def __init__(self, number: int, table: Sequence[int], folder: Path, world: WrittenWorld, crashes: Crashes) -> None:
        self._place = CrashingPlace(folder / "crawl" / "shards" / f"{number:03}", crashes)
        self._disks, self._disk = folder, 0
        self._torn = set[CopyName]()
        self._opened = list[ExitStack]()
        super().__init__(number, table, folder, world, crashes)

    def _open(self) -> None:
        path = local_path(str(self._disks / f"disk{self._disk}"), self._place.path)
        self._opened.append(ExitStack())
        self._local = self._opened[-1].enter_context(opened_locally(self._place, path, 0.0))
        self._path = self._local.folder.database
        self._copies, self._heard = 0, list[Mapping[int, Heard]]()
        super()._open()
        self._opened[-1].callback(self.store.close)

    def reopen(self) -> None:
        if self._crashes.rng.random() < 0.5:
            self._opened.pop().close()
            self._open()
        else:
            self._lose_disk(self._crashes.rng)

    def _lose_disk(self, rng: random.Random) -> None:
        self._crashes.counts["a disk is lost"] += 1
        whole = [name for name in self._place.candidates(self._place.generation() + 1) if name not in self._torn]
        if len(whole) > 1 and rng.random() < 0.5:
            self._crashes.counts["a copy is torn"] += 1
            self._torn.add(whole[0])
            (self._place.path / "copies" / f"{whole[0]}.db").write_bytes(b"torn")
        dead, self._disk = (self.mail, self._local, self._copies + 1), self._disk + 1
        self._open()
        if rng.random() < 0.5:
            self._crashes.counts["a dead process goes on"] += 1
            self._go_on(*dead)

    def _go_on(self, mail: Mail, local: LocalFolder, number: int) -> None:
        for to in mail.receivers() * 2:
            receiver = self.others[to]
            try:
                receiver.take(receiver.mail.taken(self.number, mail.batch(to, 3)))
            except Crashed:
                receiver.reopen()
            mail.answered(to, receiver.mail.answer(self.number))
        with suppress(Crashed, Replaced), moment_of(local.folder) as moment:
            self._place.write(CopyName(local.generation, number), moment, local.partial)

    def visit(self) -> bool:
        if self._crashes.rng.random() < 0.15:
            self._copy()
        return super().visit()

    def _copy(self) -> None:
        with moment_of(self._local.folder) as moment:
            self._copies += 1
            self._place.write(CopyName(self._local.generation, self._copies), moment, self._local.partial)
            self._heard.append(moment.heard)
        if len(self._heard) > 1:
            assert isinstance(self.mail, CopiedMail)
            self.mail.copied = self._heard[-2]

    def close(self) -> None:
        for opened in self._opened:
            opened.close()
