"""The words of a text in any script; stop words; and words as hashed features.

Most scripts have spaces between words. Text of other scripts is cut into pairs of letters, each letter with its marks
(of syllables in Tibetan, which separates these): two texts with a common word then have its pairs in common, without a
dictionary. For Chinese there is one, that of jieba. It is used only if the language is given as `zh`: it takes forty
times as long, it would cut Japanese, and texts of unknown language should be cut the same on every machine.

Features are hashed without a vocabulary, so the size of a model does not depend on its training data; verdicts can
still name words, because the page has them.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from itertools import pairwise
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from spoor.errors import MissingExtra, UsageError

# Stop words: articles, pronouns, prepositions, conjunctions, auxiliary verbs, which say nothing about the topic.


STOP_WORDS = {
    "ar": """في من على إلى عن مع هذا هذه ذلك تلك التي الذي الذين ما لا لم لن قد كان كانت يكون هو هي هم أن إن أو ثم
        بعد قبل كل بين حتى إذا كما لكن وقد وكان عند منذ أي أنه أنها غير فيه فيها به بها له لها و""",
    "ca": """el la els les un una uns unes de del dels a al als en amb per i o però que es se li ho no és són ha han
        era va com més seu seva seus també aquest aquesta aquests on quan sense sobre entre fins molt""",
    "cs": """a i o u v ve s se z ze k ke na do od po pro za že je jsou byl byla bylo být to ten ta ty ale nebo jak
        jako který která které si by co když už jen také podle při mezi svůj jeho její jejich tak není""",
    "da": """og i at det en den til er som på de med han af for ikke der var mig sig men et har om vi min havde ham
        hun nu over da fra du ud sin dem os op man hans hvor eller hvad skal selv her alle vil blev kunne når""",
    "de": """der die das den dem des ein eine einen einem einer eines und oder aber in im an am auf aus bei mit nach
        von vom vor zu zum zur über unter für durch ist sind war waren wird werden wurde wurden hat haben hatte sein
        seine seiner ich du er sie es wir ihr sich nicht auch nur noch als wie wenn dass daß so dann da um bis kann
        können mehr sehr dieser diese dieses""",
    "el": """ο η το οι τα του της των τον την τους τις και ή αλλά σε στο στη στην στον στα στις στους με από για ως
        προς κατά που πως ότι να θα δεν μη είναι ήταν έχει έχουν αυτό αυτή αυτός ένα ένας μια μία όπως πιο""",
    "en": """a an the and or but if of at by for with about into through before after to from up down in out on off
        over under again then once here there when where why how all any both each few more most other some such no
        nor not only own same so than too very can will just should would could may might must shall do does did
        doing done have has had having be am is are was were been being i me my we our ours you your he him his she
        her hers it its they them their theirs what which who whom this that these those as until while because
        between during against also s t don re ve ll d m""",
    "eo": """la kaj aŭ sed de da al en el sur kun por pri per post antaŭ ĝis ĉe estas estis estos esti mi vi li ŝi
        ĝi ni ili oni tiu tio kiu kio kiel ke ne jes pli tre nur ankaŭ sia lia ŝia ilia ĉi ĉu se""",
    "es": """el la los las un una unos unas de del a al en con por para y e o u pero que se su sus lo le les no es
        son era fue ha han había ser está están como más muy ya sin sobre entre también hasta desde cuando donde
        este esta estos estas ese esa eso yo tú él ella ellos me te nos mi si porque""",
    "et": """ja või aga et on oli olid ei ta see need seda selle oma ka kui nagu ning siis veel mis kes kus ma sa me
        te nad olla pole üle alla juures koos pärast enne välja juba väga""",
    "eu": """eta edo baina da dira zen ziren du dute ez bat hau hori hura bere ere izan dela zuen baino beste zer
        nor non gabe bezala arte artean egin""",
    "fa": """و در به از که این آن را با برای است بود شد شده می های ها هم یا تا بر نیز یک خود اما اگر هر او آنها ما
        من شما کرد کند کرده دارد داشت باید پس پیش بین چه هیچ""",
    "fi": """ja tai mutta että on oli ovat olivat ei en et emme ette eivät se ne hän he minä sinä me te tämä nämä
        tuo joka jotka mikä mitä kuin kun niin myös jo vain vielä sekä olla ollut hänen sen niiden jos kanssa mukaan
        ennen jälkeen""",
    "fr": """le la les l un une des de du d à au aux en dans par pour sur avec sans sous et ou mais donc que qui
        quoi dont où ce cet cette ces il elle ils elles on je tu nous vous se s me te ne n pas plus est sont était
        été être a ont avait avoir son sa ses leur leurs mon ma mes notre votre comme si y même aussi très entre c j
        m t qu""",
    "ga": """an na agus nó ach ar i in ag le do de ó go is tá bhí níl ní sé sí siad mé tú é í seo sin a as faoi chun
        mar gur nach bhfuil""",
    "hi": """का के की को से में पर और या एक यह वह ये वे इस उस है हैं था थे थी हो होता ने भी ही तो कि जो कर करने लिए
        साथ तक नहीं अपने कुछ किया गया जा रहा""",
    "hu": """a az és vagy de hogy nem is egy ez azt ezt volt van vannak lesz meg csak már még mint aki ami amely ha
        el ki be fel le én te ő mi ti ők sem után alatt között szerint által pedig minden""",
    "hy": """և ու կամ բայց է են էր էին եմ ես եք որ որը որոնք մեջ վրա հետ համար մի այդ այս այն նա նրա նրանք չէ նաև
        ըստ իր""",
    "id": """yang dan di ke dari pada dengan untuk dalam ini itu adalah akan tidak juga atau oleh sebagai ada telah
        sudah mereka dia ia kami kita saya anda para bisa dapat lebih karena serta tersebut bahwa saat""",
    "it": """il lo la i gli le l un uno una di del dello della dei degli delle d a al alla ai alle da dal dalla in
        nel nella nei con per su sul sulla tra fra e ed o ma che chi cui non si è sono era ha hanno aveva essere
        stato come più anche se suo sua suoi loro questo questa questi quello io tu lui lei noi voi mi ti ci""",
    "ja": """して した する され れた れる です ます ました から まで ない こと ある いる った って という よう など
        ので のに では には とは にも でも また その この それ これ もの ため だった へと や の に は を が と で も""",
    "lt": """ir arba bet kad yra buvo būti ne į iš su už nuo prie po per apie tai tas ta šis ši jis ji jie jos kuris
        kuri kaip dar jau taip pat tik o savo jo""",
    "ne": """को का की ले लाई मा बाट र वा पनि छ छन् थियो हो यो त्यो यस उनी उनले गर्न गरेको भएको भने एक तथा""",
    "nl": """de het een en of maar van in op aan met voor door over uit bij naar om te tot als dan dat die dit deze
        wat wie er is zijn was waren wordt werd worden heeft hebben had ik je hij zij ze we wij u niet ook nog wel
        zo meer hun haar zich kan""",
    "no": """og i jeg det at en et den til er som på de med han av for ikke der var meg seg men har om vi min hadde
        ham hun nå over da fra du ut sin dem oss opp man hva skal selv her alle vil ble kunne når eller ei dei ikkje""",
    "pl": """i w we z ze na do od o u po za przez przy dla nie jest są był była było być się że to ten ta te tego
        tej który która które jak oraz lub ale czy co jego jej ich już tylko także może a tym""",
    "pt": """o a os as um uma uns umas de do da dos das em no na nos nas por pelo pela para com sem e ou mas que se
        não é são era foi ser está ao à aos como mais muito já seu sua seus suas ele ela eles elas eu você nós isso
        este esta esse também entre até quando""",
    "ro": """și sau dar de la în din cu pe pentru un o unei unui al ai ale a este sunt era fi nu că care ce cel cea
        cei se mai ca după prin lui ei lor el ea această acest au fost am sa ar""",
    "ru": """и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только её ее мне было
        вот от меня ещё еще нет о из ему для при это этот эта эти или быть был была были их мы они который которая
        которые также до без под если""",
    "sr": """и у је да на се са за од не су то као из о који која које али или по до би био била је ће што i u je da
        na se sa za od ne su to kao iz o koji koja koje ali ili po do bi bio bila će što""",
    "st": """le ya ka ha ba ho ke e o a tsa sa di mo ba ne ena hore kapa empa wa la se tla""",
    "sv": """och i att det en ett den som på är av för med till inte om var men de har han hon vi jag du från sig så
        kan när ska eller vid mot efter under också bara sin sitt sina hade blev blir vara detta denna där""",
    "ta": """ஒரு இந்த அந்த என்று மற்றும் என இது அது உள்ள ஆகும் இருந்து கொண்டு போன்ற தான் அவர் அவர்கள் நான் நாம்""",
    "th": """และ ที่ ใน ของ เป็น การ มี ได้ ว่า ไม่ ให้ จะ กับ จาก โดย ก็ ไป มา นี้ นั้น""",
    "tr": """ve veya ama ile bir bu şu o da de ki mi için gibi kadar daha çok en her ne değil olan olarak olduğu var
        yok sonra önce ben sen biz siz onlar ancak göre ya""",
    "uk": """і й в у на не що він я з із як а то все вона так його але до та же ви за би по тільки її від мене ще
        немає про для при це цей ця ці або бути був була були їх ми вони який яка які також без під якщо""",
    "vi": """và của là có trong cho với các những một được này đó không người ra vào ở từ đến khi như để đã sẽ cũng
        về tại theo bị nhưng hay hoặc rất thì mà""",
    "yi": """און אין פֿון פון צו מיט די דער דאס דאָס דעם א אַ איז זענען געווען ניט נישט ער זי עס זיי מיר איר װי ווי
        אויף פאר אז אַז אבער""",
    "zh": """的 了 和 是 在 我 有 就 不 人 都 一 一个 上 也 很 到 说 要 去 你 会 着 没有 看 好 自己 这 那 他 她 它
        们 我们 他们 与 及 或 但 而 为 以 对 于 从 被 把 之 其 这个 那个 这些 那些 中 等""",
}
"""By the primary subtag of a BCP-47 tag."""

STOP_WORDS |= dict.fromkeys(("nb", "nn"), STOP_WORDS["no"])


# The words of a text, in any script.


STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish",
    "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "nb": "norwegian", "ne": "nepali", "nl": "dutch", "nn": "norwegian",
    "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian",
    "st": "sesotho", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
"""Languages with a Snowball stemmer, by its names."""

HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_BEGINNING = 500
TIBETAN = "\u0f00-\u0f0a\u0f0d-\u0fff"
TSHEG = "\u0f0b\u0f0c"
"""The separators of syllables in Tibetan."""
UNSPACED = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Tibetan, Myanmar, Khmer
    "\u1950-\u19df\u1a20-\u1aaf\u1b00-\u1b7f\ua980-\ua9df\uaa60-\uaadf"  # Tai Le and Lue and Tham, Balinese, Javanese …
    "\u3040-\u30ff\u3100-\u312f\u31a0-\u31bf\u31f0-\u31ff\uff66-\uff9f\ua000-\ua4cf" + HAN  # kana, bopomofo, Yi
)
"""Ranges of code points, for use inside a character class."""

_JOINERS = "\u200c\u200d" + TSHEG
_ASCII_WORD = re.compile("[a-z0-9]+")
_UNSPACED_LETTER = re.compile(f"[{UNSPACED}]")
_UNSPACED_RUN = re.compile(f"[{UNSPACED}]+")
_SAME_SPACING = re.compile(f"[{UNSPACED}]+|[^{UNSPACED}]+")
_SAME_HAN = re.compile(f"[{HAN}]+|[^{HAN}]+")
_UNSPACED_LETTERS_IN_A_WORD = 3
"""An average: below two in Chinese, four or five in Thai and Khmer."""


@dataclass(frozen=True)
class Words:
    """`language` is a BCP-47 tag, "" if unknown; without it there are neither stems nor stop words."""

    language: str = ""
    stem: bool = False
    stop_words: bool = True

    def __post_init__(self) -> None:
        if self.stem and self._tag not in STEMMERS:
            known = ", ".join(STEMMERS)
            raise UsageError(f"no stemmer for the language {self.language!r}; leave stem out, or name one of {known}")

    def of(self, text: str) -> list[str]:
        """In the order of the text, in lower case; numbers count as words."""
        words = _cut(folded(text), self._tag == "zh")
        if self.stop_words and self._tag in STOP_WORDS:
            stop = _stop(self._tag)
            words = [word for word in words if word not in stop]
        if self.stem:
            words = list(map(stemmer(STEMMERS[self._tag]), words))
        return words

    @property
    def _tag(self) -> str:
        return self.language.partition("-")[0].lower()


def folded(text: str) -> str:
    """Case-folded, NFC, without soft hyphens: the form in which words are compared."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", text.replace("\xad", "").casefold())


def word_count(text: str) -> int:
    """An estimate: fast, and exact enough to distinguish long texts from short ones in any script."""
    if text.isascii():
        return len(text.split())
    unspaced = sum(map(len, _UNSPACED_RUN.findall(text))) if _UNSPACED_LETTER.search(text) else 0
    return len(text.split()) + unspaced // _UNSPACED_LETTERS_IN_A_WORD


@cache
def any_word() -> re.Pattern[str]:
    """A word in folded text without underscores, or a run of words in a script without spaces. Includes the vowel signs
    of Indic scripts and the points of Hebrew, which the class of word characters in `re` does not match."""
    return re.compile(rf"[^\W_][\w{_JOINERS}{_marks()}]*")


@cache
def any_letter() -> re.Pattern[str]:
    """A letter inside a word."""
    return re.compile(rf"[^\W_]|[{_JOINERS}{_marks()}]")


def is_unspaced(letter: str) -> bool:
    """Whether its script has no spaces between words."""
    return _UNSPACED_LETTER.match(letter) is not None


def begins_unspaced(text: str) -> bool:
    """Whether a text, by its first characters, has mostly pairs of letters as words."""
    beginning = text[:_BEGINNING]
    return 3 * len(_UNSPACED_LETTER.findall(beginning)) > len(beginning)


def _cut(text: str, chinese: bool) -> list[str]:
    if text.isascii():
        return _ASCII_WORD.findall(text)
    words: list[str] = any_word().findall(text.replace("_", " "))
    if _UNSPACED_LETTER.search(text) is None:
        return words
    cut: list[str] = []
    for word in words:
        if word.isascii() or _UNSPACED_LETTER.search(word) is None:
            cut.append(word)
        else:
            for piece in _SAME_SPACING.findall(word):
                cut += _cut_unspaced(piece, chinese) if _UNSPACED_LETTER.match(piece) else [piece]
    return cut


def _cut_unspaced(run: str, chinese: bool) -> list[str]:
    if not chinese:
        return _pairs(run)
    pieces = _SAME_HAN.findall(run)
    return [word for piece in pieces for word in (_jieba()(piece) if re.match(f"[{HAN}]", piece) else _pairs(piece))]


def _pairs(run: str) -> list[str]:
    units: Sequence[str] = _unit().findall(run) if _not_single().search(run) else run
    return [first + second for first, second in pairwise(units)] if len(units) > 1 else list(units)


@cache
def _unit() -> re.Pattern[str]:
    """A syllable of Tibetan, or a letter with its marks."""
    return re.compile(f"[{TIBETAN}]+|[^{TSHEG}][{_marks()}]*")


@cache
def _not_single() -> re.Pattern[str]:
    """Where a letter is not a unit by itself."""
    return re.compile(f"[{TIBETAN}{_marks()}]")


@cache
def _marks() -> str:
    return "".join(chr(code) for code in range(0x300, 0x10000) if unicodedata.category(chr(code)).startswith("M"))


@cache
def _stop(tag: str) -> frozenset[str]:
    """Stop words cut as texts are: into pairs of letters in scripts without spaces."""
    return frozenset(_cut(folded(STOP_WORDS[tag]), tag == "zh"))


@cache
def stemmer(name: str) -> Callable[[str], str]:
    """Never that of PyStemmer, which snowballstemmer takes where it is installed: by its version it has fewer languages
    and other stems, and a model must read a text the same on every machine."""
    try:
        import snowballstemmer
    except ModuleNotFoundError:
        raise MissingExtra("stems need snowballstemmer; install it with: pip install 'spoor[topics]'") from None
    module = import_module(f"{snowballstemmer.__name__}.{name}_stemmer")
    stem: Callable[[str], str] = getattr(module, f"{name.capitalize()}Stemmer")().stemWord
    return lru_cache(maxsize=100_000)(stem)


@cache
def _jieba() -> Callable[[str], list[str]]:
    """Loading takes over a second, so only on first use."""
    try:
        with warnings.catch_warnings():  # Of its own source, where an installer such as uv has not compiled it.
            warnings.simplefilter("ignore")
            import jieba
    except ModuleNotFoundError:
        raise MissingExtra("Chinese words need jieba; install it with: pip install 'spoor[topics]'") from None
    jieba.setLogLevel("ERROR")
    cut: Callable[[str], list[str]] = jieba.lcut
    return cut


# Features for classifiers: the words of a page, and separately those of its title, each hashed.


PLACES = 1 << 20
"""Number of hash buckets: of 40,000 different features, those of some 600 pages, one in thirty collides."""
IN_TITLE = "title: "
LONGEST, LONGEST_UNSPACED = 10_000, 2_500
"""Maximum characters read of a page: more hardly change the result, and cost time. In scripts without spaces fewer
characters make as many words."""
_WORDS = Words()


@dataclass(frozen=True, eq=False)
class Features:
    """Distinct words, with the weight of each."""

    words: list[str]
    weights: NDArray[np.float64]

    def places(self) -> NDArray[np.int64]:
        return np.fromiter(map(place, self.words), np.int64, len(self.words))


def features(title: str, text: str) -> Features:
    """The weight of a word is 1 + ln of its frequency, normalised to length 1, so that long pages do not weigh more
    than short ones. In scripts without spaces, pairs of letters serve as words."""
    counts = Counter(_WORDS.of(text[: LONGEST_UNSPACED if begins_unspaced(text) else LONGEST]))
    counts.update([IN_TITLE + word for word in _WORDS.of(title[:LONGEST])])
    weights = 1.0 + np.log(np.fromiter(counts.values(), np.float64, len(counts)))
    return Features(list(counts), weights / (np.linalg.norm(weights) or 1.0))


@lru_cache(maxsize=1 << 16)
def place(feature: str) -> int:
    return crc32(feature.encode("utf8", "surrogatepass")) % PLACES
