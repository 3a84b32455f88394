"""The vocabularies of generated pages, and the generation of text from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from spoor.compiled import compiled
from spoor.lab.generate.chance import Stream, begin, bell, chance, new_stream, place, running_sums, seed_of

# Vocabularies of generated pages: everyday words of eight languages, words of topics, terms of courses.


_EVERYDAY = {
    "english": """
        the and of to in is for with on that this from are was by at as it not have more about when which their
        people time year day new good home work water world school place right hand small large city house
    """,
    "german": """
        der die und das von zu mit für auf ist nicht ein eine über können müssen schön groß Straße Häuser Jahr
        Tag Wasser Schule Stadt Menschen Arbeit früh später heißt weiß Länder Gärten wählen natürlich grün Tür hören
    """,
    "russian": """
        и в не на что это как по все для она они был есть год день время человек жизнь рука дело слово место вода
        город школа работа дом дорога земля утро вечер большой новый хороший говорить знать видеть можно сегодня
    """,
    "mongolian": """
        нь юм байна байсан болон энэ тэр хүн улс монгол өдөр жил сар морь тал нутаг гэр ус уул салхи өвөл зун
        хавар намар сургууль ном үг хэл дуу түүх өвөг эрдэм хөдөө хот зам мал үүл тэнгэр өнөөдөр маргааш сайхан
        том шинэ бид тэд үзэх явах ирэх өгөх хүүхэд эмээ өвөө
    """,
    "hindi": """
        और का की के में है हैं यह वह से को पर लिए एक नहीं साल दिन समय लोग घर पानी शहर गाँव विद्यालय काम नया
        अच्छा बड़ा छोटा बात जीवन देश भाषा पुस्तक आज कल सुबह शाम रास्ता दुनिया बच्चे
    """,
    "thai": """
        และ ของ ที่ ใน เป็น มี ไม่ ได้ การ ให้ จะ กับ จาก ว่า นี้ วันนี้ พรุ่งนี้ คน บ้าน เมือง น้ำ โรงเรียน นักเรียน
        ครู หนังสือ ภาษา ไทย ประเทศ อาหาร ข้าว ตลาด ถนน ทะเล ภูเขา ฝน ลม เช้า เย็น ใหม่ ดี ใหญ่ เล็ก ทำงาน
        เดินทาง ข่าว ดนตรี ชีวิต
    """,
    "japanese": """
        は が を に の で と も から まで です ます でした ました これ それ この その 今日 明日 学校 先生
        学生 日本 言葉 新聞 天気 東京 電車 駅 山 川 海 水 本 人 時間 仕事 家 町 道 朝 夜 新しい 大きい
        小さい とても ありがとう ニュース インターネット ページ
    """,
    "chinese": """
        的 是 在 了 和 有 不 这 我们 他们 今天 明天 学校 老师 学生 中国 语言 新闻 天气 北京 火车 车站 山 河
        海 水 书 人 时间 工作 家 城市 路 早上 晚上 新 大 小 很 好 世界 生活 历史 文化 国家 经济 网站
    """,
}

LANGUAGES: dict[str, tuple[str, ...]] = {name: tuple(words.split()) for name, words in _EVERYDAY.items()}
"""Everyday words, the most frequent first."""

WITHOUT_SPACES = frozenset({"thai", "japanese", "chinese"})

TOPICS: tuple[tuple[str, ...], ...] = tuple(
    tuple(words.split())
    for words in (
        "telescope galaxy orbit comet nebula planet eclipse asteroid supernova observatory starlight redshift "
        "constellation astronomer quasar exoplanet meteor parallax magnitude spectrum lunar solar corona zenith",
        "gravity quantum particle photon momentum energy wavelength magnet neutron laboratory experiment physicist "
        "velocity radiation electron vacuum laser thermal collider plasma field mass symmetry spin",
        "equation theorem geometry algebra proof matrix vector integral probability number statistics function "
        "calculus logic topology sequence polynomial axiom formula prime curve angle symmetry limit",
        "recipe oven butter flour garlic onion simmer bake sauce pepper tomato cheese dough soup knife pan taste salt",
        "football goal league match coach striker penalty stadium season defender referee trophy club midfield fans",
        "hotel flight beach luggage passport island tour ticket resort museum hiking guide harbour cruise map ferry",
        "shares market bank interest loan profit budget tax investor dividend pension currency price trade bond fund",
        "garden seed soil compost tulip prune hedge lawn rose spade harvest bulb orchard watering greenhouse shrub",
        "guitar melody concert album drum chorus violin singer rhythm orchestra piano lyric stage tune band jazz",
    )
)
"""The target topic, one close to it, one farther away, and six unrelated ones."""

COURSE_TERMS: dict[str, str] = {
    "CSE": "computer science and engineering",
    "IT": "information technology",
    "ENGG": "engineering",
    "COMP": "computer",
    "OTHER": "campus life",
}
"""The term that names each class of courses."""

COURSE_WORDS: dict[str, tuple[str, ...]] = {
    name: tuple(words.split())
    for name, words in (
        (
            "CSE",
            "algorithms compilers programming data structures operating systems automata software theory graph parsing",
        ),
        (
            "IT",
            "networks database internet security web cloud services administration servers protocols wireless storage",
        ),
        (
            "ENGG",
            "mechanical civil circuits thermodynamics design workshop materials structures drawing turbines bridges",
        ),
        (
            "COMP",
            "laptop printer keyboard repair monitor processor memory accessories warranty shop hardware screen",
        ),
        (
            "OTHER",
            "sports hostel canteen music festival library admission fees holidays alumni transport garden",
        ),
    )
}
"""The words of pages of each class."""


# Text generation: the first words of a list are the most frequent, as in natural language.


TEXTS = 200
"""The purpose of these random streams."""
TEXT_WORDS = 120
"""Words of a page, without those of headings and links."""


@dataclass(frozen=True)
class Vocabulary:
    words: tuple[str, ...]
    sums: NDArray[np.float64]
    between: str = " "

    def joined(self, *texts: str) -> str:
        return self.between.join(filter(None, texts))


def vocabulary(*parts: tuple[float, Sequence[str]], between: str = " ", even: bool = False) -> Vocabulary:
    """Combines word lists with their shares of the text. Within a list the k-th word has the weight 1/k (Zipf), or all
    have the same weight if `even`."""
    words = tuple(word for _, part in parts for word in part)
    weights = [share * (np.full(len(part), 1 / len(part)) if even else _zipf(len(part))) for share, part in parts]
    return Vocabulary(words, running_sums(np.concatenate(weights)), between)


def _zipf(words: int) -> NDArray[np.float64]:
    weights: NDArray[np.float64] = 1 / np.arange(1, words + 1)
    return weights / np.sum(weights)


LANGUAGE = {
    name: vocabulary((1.0, words), between="" if name in WITHOUT_SPACES else " ") for name, words in LANGUAGES.items()
}
"""The everyday vocabulary of each language."""


class Author:
    """Writes page after page. The text depends only on the seed and the page number."""

    def __init__(self, seed: int) -> None:
        self._seed = seed_of(seed)
        self._stream = new_stream()

    def turn_to(self, page: int) -> None:
        begin(self._stream, self._seed, TEXTS, page)

    def chance(self) -> float:
        return chance(self._stream)

    def between_0_and_1(self, mean: float, deviation: float) -> float:
        """Normally distributed, clipped to [0, 1]."""
        return min(1.0, max(0.0, mean + deviation * bell(self._stream)))

    def write(self, source: Vocabulary, count: int) -> str:
        return source.between.join(self._words(source, count))

    def write_parts(self, source: Vocabulary, counts: Sequence[int]) -> list[str]:
        """A text in parts of so many words each."""
        words = iter(self._words(source, sum(counts)))
        return [source.between.join(islice(words, count)) for count in counts]

    def _words(self, source: Vocabulary, count: int) -> list[str]:
        return [source.words[k] for k in _places(self._stream, source.sums, count)]


@compiled
def _places(stream: Stream, sums: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    places = np.empty(count, np.int64)
    for k in range(count):
        places[k] = place(stream, sums)
    return places
