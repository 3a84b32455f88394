"""The judge of a crawl with its student, which may be one of several judges that must agree."""

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
    """A judge that contains a student. `name` is its name in a `CombinedJudge`, "" if it judges alone."""

    judge: Judge
    student: Student
    name: str = ""

    @staticmethod
    def of(judge: Judge) -> TaughtJudge | None:
        """None if the judge contains no student."""
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
        """Verdicts of the other judges, by name."""
        if not isinstance(self.judge, CombinedJudge):
            return NO_OTHERS
        return {name: one.judge([page])[0] for name, one in self.judge.judges.items() if name != self.name}

    def verdict(self, own: Verdict, others: Mapping[str, Verdict]) -> Verdict:
        """The combined verdict, if `own` is that of the student."""
        return self.judge.agreed({**others, self.name: own}) if isinstance(self.judge, CombinedJudge) else own

    def decides(self, others: Mapping[str, Verdict]) -> bool:
        """Whether the verdict of the student changes the combined one."""
        yes, no = (self.verdict(Verdict(float(said), said, ""), others) for said in (True, False))
        return yes.relevant != no.relevant
