"""The judge of a crawl and the student in it, which may be one of several that must agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from spoor.judging.combined import CombinedJudge
from spoor.records import Page, Verdict
from spoor.roles import Judge
from spoor.teaching.student import Student

NO_OTHERS: Mapping[str, Verdict] = {}


@dataclass(frozen=True)
class TaughtJudge:
    """`name` is that of the student among the judges of an `CombinedJudge`, "" where it judges alone."""

    judge: Judge
    student: Student
    name: str = ""

    @staticmethod
    def of(judge: Judge) -> TaughtJudge | None:
        """None: there is nobody to be taught."""
        if isinstance(judge, Student):
            return TaughtJudge(judge, judge)
        if isinstance(judge, CombinedJudge):
            for name, one in judge.judges.items():
                if isinstance(one, Student):
                    return TaughtJudge(judge, one, name)
        return None

    def with_student(self, student: Student) -> TaughtJudge:
        if not isinstance(self.judge, CombinedJudge):
            return TaughtJudge(student, student)
        judges = {**self.judge.judges, self.name: student}
        return TaughtJudge(replace(self.judge, judges=judges), student, self.name)

    def others(self, page: Page) -> Mapping[str, Verdict]:
        """What the other judges say of a page, by their names."""
        if not isinstance(self.judge, CombinedJudge):
            return NO_OTHERS
        return {name: one.judge([page])[0] for name, one in self.judge.judges.items() if name != self.name}

    def verdict(self, own: Verdict, others: Mapping[str, Verdict]) -> Verdict:
        """Of all together, if the student says this."""
        return self.judge.agreed({**others, self.name: own}) if isinstance(self.judge, CombinedJudge) else own

    def decides(self, others: Mapping[str, Verdict]) -> bool:
        """Whether it makes a difference what the student says."""
        yes, no = (self.verdict(Verdict(float(said), said, ""), others) for said in (True, False))
        return yes.relevant != no.relevant
