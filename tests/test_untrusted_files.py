"""Webs, models, ontologies and settings that a stranger made: read, or refused in one line. Never a crash, never a
request, never more memory than the file deserves."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import socket
import sqlite3
import tempfile
import threading
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from spoor.cli.main import main
from spoor.errors import BadInput, BrokenContract, SpoorError, UsageError
from spoor.files import Kind, Part, kind_in, read_model, unpacked, write_model
from spoor.judging.dictionary import read_dictionary
from spoor.judging.encodings import read as read_encoding
from spoor.judging.ontology_files import open_ontology
from spoor.lab import compiled_crawl as compiled
from spoor.lab.build.warc_source import parse_http_response
from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.link_graph import WebBacklinks, distance_to_relevant, locality, reachable
from spoor.lab.web import Web
from spoor.lab.worlds import RecordedWorld
from spoor.records import Visit
from spoor.report.export import Selection, export
from spoor.store.crawl_folder import message_of
from spoor.store.journal import open_to_read, pages
from tests.handmade_web import write_web
from tests.kept_crawl import kept_crawl
from tests.test_web_info import web_of

MIB = 1 << 20


@contextlib.contextmanager
def memory_below(most: int) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


@contextlib.contextmanager
def listening() -> Iterator[tuple[str, list[bytes]]]:
    """An address of this machine, and what was asked there."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    with connection:
                        heard.append(connection.recv(4096))
                        connection.sendall(b'HTTP/1.0 200 OK\r\n\r\n{"@context": {}}')

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}", heard
        server.shutdown(socket.SHUT_RDWR)
    thread.join()


@pytest.fixture(scope="module", params=["built", "generated", "handmade"])
def web(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("webs") / "web"
    if request.param == "generated":
        generate(Request("topical", 60, 1), folder, lambda pages: None)
        return folder
    if request.param == "built":
        return web_of(folder.parent, "A+ B C+ D", "AB BC CA AX DA BX CB").folder
    return write_web(folder, [[1, 2, 3], [4, 5], [0, 6], [7], [], [6], [8, 9], [], [], [0]], {"relevant": [0, 2]})


def numbers_of(pages: NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.flatnonzero(pages)


class TestAWeb:
    def used(self, folder: Path) -> None:
        """By all that reads it, machine code first of all."""
        web = Web.open(folder)
        relevant = web.labelled(web.labels[0])
        numbers = [number for number in (0, web.pages - 1) if web.urls.find(web.urls[number]) == number]
        locality(web, relevant)
        found = reachable(*web.steps(), numbers, web.pages)
        distance_to_relevant(*web.steps(), relevant, found)
        for strategy in ("soft-focused", "in-links", "depth-first"):
            compiled.run(compiled.LinkGraph.of(web, relevant), compiled.Plan(strategy), numbers, web.pages)
        world = RecordedWorld(web, relevant, with_content=True)
        for number in range(web.pages):
            world.fetch(Visit(web.urls[number], "", 0, 0.0))
            web.body(number)
        assert np.bincount(web.array("page_host")).sum() == web.pages
        WebBacklinks(web).links_to(numbers_of(relevant))

    def used_or_refused(self, folder: Path) -> str:
        """How it was refused, "" when it was not."""
        try:
            self.used(folder)
        except BadInput as refused:
            assert "\n" not in str(refused)
            return str(refused)
        return ""

    def test_with_numbers_that_lead_anywhere_is_refused(self, web: Path, tmp_path: Path) -> None:
        """In each array one becomes a number that lies outside. Those of a few arrays are no places, and may be any."""
        chance = random.Random(1)
        for array in sorted(web.glob("*.npy")):
            if array.stem in ("status", "size", "url_hashes"):
                continue
            for wrong in (-(2**31), -2, 2**31 - 1, 10**6):
                copied = shutil.copytree(web, tmp_path / "copy")
                changed = np.load(array).astype(np.float64 if array.stem == "seconds" else np.int64)
                changed[chance.randrange(len(changed))] = wrong
                np.save(copied / array.name, changed)
                assert "is damaged: " in self.used_or_refused(copied), (array.name, wrong)
                shutil.rmtree(copied)

    @pytest.mark.parametrize(
        "damage",
        [
            lambda values: values[:-1],
            lambda values: np.append(values, values),
            lambda values: values.astype("U8"),
            lambda values: values.astype(complex),
            lambda values: values.reshape(-1, 1),
            lambda values: values[::-1],
            lambda values: values[:0],
        ],
        ids=["shorter", "longer", "texts", "complex", "a table", "reversed", "empty"],
    )
    def test_with_arrays_of_another_shape_is_read_or_refused(
        self, web: Path, tmp_path: Path, damage: Callable[[Any], Any]
    ) -> None:
        for array in sorted(web.glob("*.npy")):
            copied = shutil.copytree(web, tmp_path / "copy")
            np.save(copied / array.name, damage(np.load(array)))
            self.used_or_refused(copied)
            shutil.rmtree(copied)

    def test_with_any_bit_flipped_is_read_or_refused(self, web: Path, tmp_path: Path) -> None:
        copied, chance = shutil.copytree(web, tmp_path / "copy"), random.Random(3)
        files = [file for file in sorted(copied.iterdir()) if file.stat().st_size]
        for _ in range(150):
            file = chance.choice(files)
            content = file.read_bytes()
            changed = bytearray(content)
            changed[chance.randrange(min(len(changed), 300))] ^= 1 << chance.randrange(8)
            file.write_bytes(changed)
            self.used_or_refused(copied)
            file.write_bytes(content)

    @pytest.mark.parametrize(
        "about",
        [
            {"pages": -1},
            {"pages": 10**30},
            {"pages": "many"},
            {"pages": 10**6},
            {"labels": 3},
            {"labels": [1]},
            {"charsets": []},
            {"name": 5},
            {"url_pattern": "http://x.test/"},
            {"url_pattern": 7},
            {"hosts": None},
        ],
        ids=str,
    )
    def test_whose_description_lies_is_refused_in_one_line(
        self, web: Path, tmp_path: Path, about: dict[str, object]
    ) -> None:
        copied = shutil.copytree(web, tmp_path / "copy")
        said = json.loads((web / "web.json").read_text()) | about
        (copied / "web.json").write_text(json.dumps(said))
        with pytest.raises(BadInput, match="damaged") as refused:
            opened = Web.open(copied)
            assert opened.urls and opened.link_offsets is not None and opened.page(0)
        assert "\n" not in str(refused.value)

    @pytest.mark.parametrize("text", ["[]", "null", "{", "[" * 100_000, '{"format": ' + "9" * 5000 + "}", "\xff"])
    def test_whose_description_is_none_is_refused_in_one_line(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "web.json").write_bytes(text.encode("latin-1"))
        with pytest.raises(BadInput):
            Web.open(tmp_path)

    def test_whose_texts_are_something_else_is_refused(self, tmp_path: Path) -> None:
        generate(Request("topical", 20, 1), tmp_path / "web", lambda pages: None)
        for wrong in (7, [7], ["a", "b", 3], ["a"] * 9, ["a", "b", {"h1": 5}], {"a": 1}):
            self._write_blob(tmp_path / "web", "texts", zlib.compress(json.dumps(wrong).encode()))
            with pytest.raises(BadInput, match=r"texts.bin is damaged: value 0 is not of the right kind"):
                Web.open(tmp_path / "web").texts[0]
        for context in (7, [], [[7]], [["a"] * 30], ["a"]):
            self._write_blob(tmp_path / "web", "contexts", zlib.compress(json.dumps(context).encode()))
            with pytest.raises(BadInput, match=r"contexts.bin is damaged: value 0 is not of the right kind"):
                Web.open(tmp_path / "web").contexts[0]

    def test_with_a_text_that_stands_for_gigabytes_is_refused(self, tmp_path: Path) -> None:
        generate(Request("topical", 20, 1), tmp_path / "web", lambda pages: None)
        packer = zlib.compressobj(1)
        bomb = b"".join(packer.compress(bytes(16 * MIB)) for _ in range(17)) + packer.flush()
        self._write_blob(tmp_path / "web", "texts", bomb)
        with pytest.raises(BadInput, match="is truncated, or larger than"):
            Web.open(tmp_path / "web").texts[0]

    def test_whose_bodies_are_something_else_is_refused(self, tmp_path: Path) -> None:
        generate(Request("topical", 20, 1), tmp_path / "web", lambda pages: None)
        for wrong in (b"", b"no end of a line", b"Set-Cookie: a=b\r\n\r\n<p>text"):
            self._write_blob(tmp_path / "web", "bodies", zlib.compress(wrong))
            with pytest.raises(BadInput, match=r"bodies.bin is damaged: value 0 cannot be read"):
                Web.open(tmp_path / "web").body(0)

    def _write_blob(self, folder: Path, name: str, blob: bytes) -> None:
        offsets = np.load(folder / f"{name}_offsets.npy")
        (folder / f"{name}.bin").write_bytes(blob)
        np.save(folder / f"{name}_offsets.npy", np.array([0, *[len(blob)] * (len(offsets) - 1)], np.int64))

    def test_addresses_no_page_by_a_number_of_any_length(self, tmp_path: Path) -> None:
        generate(Request("thai", 60, 1), tmp_path / "web", lambda pages: None)
        urls = Web.open(tmp_path / "web").urls
        assert urls.find(urls[0].replace("h0", "h" + "9" * 5000)) is None
        assert urls.find(urls[0] + "3/" * 100_000) is None

    def test_is_not_asked_for_pages_that_it_lacks(self) -> None:
        offsets, targets = np.array([0, 1, 2], np.int64), np.array([1, 0], np.int32)
        for seeds in ([2], [-1], [2**31]):
            with pytest.raises(BrokenContract):
                reachable(offsets, targets, seeds, 2)
        with pytest.raises(BrokenContract):
            reachable(offsets, targets, [0], 3)
        with pytest.raises(BrokenContract):
            distance_to_relevant(offsets, targets, np.ones(2, np.bool_), np.ones(3, np.bool_))


class TestAnOntology:
    @pytest.mark.parametrize(
        "written",
        [
            '{{"@context": "{url}/c", "@id": "http://a.test/"}}',
            '{{"@context": [{{}}, "{url}/c"], "@id": "http://a.test/"}}',
            '{{"@context": [[["{url}/c"]]], "@id": "http://a.test/"}}',
            '{{"@context": {{"@import": "{url}/c"}}, "@id": "http://a.test/"}}',
            '{{"@context": {{"t": {{"@id": "http://a.test/t", "@context": "{url}/c"}}}}, "t": {{"@id": "http://b.test/"}}}}',
            '{{"@graph": [{{"@context": "{url}/c", "@id": "http://a.test/"}}]}}',
            '[{{"@id": "http://a.test/", "http://a.test/t": [{{"@context": "{url}/c", "@id": "http://b.test/"}}]}}]',
            '{{"@context": "c.jsonld", "@id": "http://a.test/"}}',
            '{{"@context": "file:///etc/hostname", "@id": "http://a.test/"}}',
        ],
    )
    def test_whose_context_is_elsewhere_is_refused_and_nobody_is_asked(self, tmp_path: Path, written: str) -> None:
        with listening() as (url, heard):
            for name in ("a.jsonld", "a.json", "a.ttl", "a"):
                (tmp_path / name).write_text(written.format(url=url))
                with pytest.raises(BadInput, match=r"its context is remote, at .* write the context into the file"):
                    open_ontology(tmp_path / name)
        assert heard == []

    @pytest.mark.parametrize(
        "prolog",
        [
            '<!DOCTYPE r SYSTEM "{url}/a.dtd">',
            '<!DOCTYPE r [<!ENTITY x SYSTEM "{url}/x">]>',
            '<!DOCTYPE r [<!ENTITY % x SYSTEM "{url}/x"> %x;]>',
            '<?xml-stylesheet href="{url}/s"?>',
        ],
    )
    def test_in_xml_has_nothing_fetched(self, tmp_path: Path, prolog: str) -> None:
        rdf = 'xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:s="http://www.w3.org/2004/02/skos/core#"'
        body = f'<r:RDF {rdf}><s:Concept r:about="http://a.test/"><s:prefLabel>Otter</s:prefLabel></s:Concept></r:RDF>'
        with listening() as (url, heard):
            (tmp_path / "a.rdf").write_text(prolog.format(url=url) + body)
            with contextlib.suppress(BadInput):
                open_ontology(tmp_path / "a.rdf")
        assert heard == []

    @pytest.mark.parametrize("depth", [2, 9])
    def test_with_entities_made_of_entities_is_refused(self, tmp_path: Path, depth: int) -> None:
        laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, depth + 1))
        (tmp_path / "a.owl").write_text(f'<!DOCTYPE r [<!ENTITY l0 "ha">{laughs}]><r>&l{depth};</r>')
        with memory_below(4 * MIB), pytest.raises(BadInput, match="declares the entity 'l1', nested or"):
            open_ontology(tmp_path / "a.owl")

    def test_with_one_long_entity_used_often_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "a.owl").write_text(f'<!DOCTYPE r [<!ENTITY l "{"ha" * 5000}">]><r>{"&l;" * 5000}</r>')
        with (
            memory_below(4 * MIB),
            pytest.raises(BadInput, match="declares the entity 'l', nested or"),
        ):
            open_ontology(tmp_path / "a.owl")

    def test_with_entities_for_the_beginnings_of_uris_is_read(self, tmp_path: Path) -> None:
        """As the editors of ontologies write it."""
        rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
        (tmp_path / "a.owl").write_text(
            f'<!DOCTYPE rdf:RDF [<!ENTITY owl "http://www.w3.org/2002/07/owl#"><!ENTITY b "http://beasts.test/">]>'
            f'<rdf:RDF xmlns:rdf="{rdf}"><rdf:Description rdf:about="&b;Donkey"><rdf:type rdf:resource="&owl;Class"/>'
            "</rdf:Description></rdf:RDF>"
        )
        assert open_ontology(tmp_path / "a.owl").most_important(5) == ("Donkey",)

    @pytest.mark.parametrize(
        "value", ['"1e60000000"^^xsd:decimal', '"' + "9" * 5000 + '"^^xsd:integer', '"P99999999Y"^^xsd:duration']
    )
    def test_with_numbers_of_any_size_takes_no_memory(self, tmp_path: Path, value: str) -> None:
        (tmp_path / "a.ttl").write_text(
            "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix s: <http://www.w3.org/2004/02/skos/core#> . "
            f'<http://a.test/> a s:Concept ; s:prefLabel "Otter" ; s:note {value} .'
        )
        with memory_below(20 * MIB):
            assert open_ontology(tmp_path / "a.ttl").most_important(5) == ("Otter",)

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("a.toml", "[terms]\na = " + "9" * 5000),
            ("a.toml", "[terms]\na = 0x" + "f" * 5000),
            ("a.toml", "a = " + "[" * 100_000),
            ("a.csv", "term,importance\n" + "x" * 200_000 + ",1\n"),
            ("a.csv", "term,importance\nx," + "9" * 5000 + "\n"),
            ("a.csv", 'term,importance\n"x,1\n' * 3),
            ("a.csv", "term,importance\nx\0,1\n"),
            ("a.jsonld", "[" * 100_000),
            ("a.jsonld", "9" * 5000),
            ("a.owl", "<r>" * 20_000),
            ("a.ttl", "(" * 50_000),
            ("a.ttl", "<http://a.test/> <http://a.test/> " + "9" * 5000),
        ],
    )
    def test_of_any_content_is_read_or_refused_in_one_line(self, tmp_path: Path, name: str, content: str) -> None:
        (tmp_path / name).write_text(content)
        try:
            open_ontology(tmp_path / name)
        except SpoorError as refused:
            assert "\n" not in str(refused)

    def test_that_is_larger_than_memory_is_refused(self, tmp_path: Path) -> None:
        for name in ("a.ttl", "a.csv", "a.toml"):
            with (tmp_path / name).open("wb") as file:
                file.truncate(1 << 40)  # a hole: it takes no room on the disk
            with pytest.raises(BadInput, match=r"has more than [\d,]+ bytes"):
                open_ontology(tmp_path / name)

    def test_a_dictionary_of_brackets_is_read_in_time(self, tmp_path: Path) -> None:
        """Some seconds would be hours, if every bracket were searched for to the end of its line."""
        (tmp_path / "a.tsv").write_text("a\tb\n" + "{([" * 100_000)
        assert len(read_dictionary(tmp_path / "a.tsv").entries) == 1


KIND = Kind("things", 1, "spoor train thing")


class TestAModel:
    @pytest.mark.parametrize(
        "size", ["-1", "1e3", "true", "Infinity", "NaN", '"5"', "null", "9" * 5000, "9" * 30, "[5]", "5.0"]
    )
    def test_that_lies_about_the_size_of_its_parts_is_refused(self, tmp_path: Path, size: str) -> None:
        path = tmp_path / "a.spoor"
        path.write_text(f'spoor things 1\n[{{"bytes": {size}}}]\nhello')
        with pytest.raises(BadInput) as refused:
            read_model(path, KIND)
        assert "\n" not in str(refused.value) and len(str(refused.value)) < 500

    @given(st.integers(), st.integers())
    def test_gives_each_part_its_own_bytes_or_nothing(self, one: int, other: int) -> None:
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "a.spoor"
            path.write_bytes(b'spoor things 1\n[{"bytes": %d}, {"bytes": %d}]\nhello' % (one, other))
            if one >= 0 and other >= 0 and one + other == 5:
                assert b"".join(part.content for part in read_model(path, KIND)) == b"hello"
            else:
                with pytest.raises(BadInput):
                    read_model(path, KIND)

    def test_unpacks_to_what_was_said_and_no_more(self) -> None:
        whole = bytes(64 * MIB)
        content = zlib.compress(whole)
        with memory_below(4 * MIB), pytest.raises(ValueError):
            unpacked(content, 100)
        with memory_below(4 * MIB), pytest.raises(ValueError):
            unpacked(content, 1 << 50)
        for wrong in (content[:-1], content[:-4] + b"abcd", content + b"more"):
            with pytest.raises((ValueError, zlib.error)):
                unpacked(wrong, len(whole))
        assert unpacked(content, len(whole)) == whole

    def test_that_is_larger_than_memory_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "a.spoor"
        write_model(path, KIND, [Part({}, b"x")])
        with path.open("r+b") as file:
            file.truncate(1 << 40)
        with memory_below(4 * MIB):
            assert kind_in(path) == "things"
        with pytest.raises(BadInput, match=r"has more than [\d,]+ bytes"):
            read_model(path, KIND)


class TestACrawlFolder:
    def test_has_only_its_own_archive_read(self, tmp_path: Path) -> None:
        crawl = kept_crawl(tmp_path / "crawl", pages=6)
        secret = next(crawl.warcs.glob("*.warc.gz"))
        shutil.copy(secret, tmp_path / "secret.warc.gz")
        with contextlib.closing(open_to_read(crawl.database)) as db:
            (page,) = [one for one in pages(db) if one.number == 0]
        for file, offset in (
            (str(tmp_path / "secret.warc.gz"), page.warc_offset),
            ("../../secret.warc.gz", page.warc_offset),
            (page.warc_file, -1),
            (page.warc_file, 2**62),
            (page.warc_file, "x"),
            (7, page.warc_offset),
            ("", 0),
            ("\0.warc.gz", 0),
        ):
            with contextlib.closing(sqlite3.connect(crawl.database, isolation_level=None)) as db:
                db.execute("UPDATE pages SET warc_file = ?, warc_offset = ? WHERE number = 0", (file, offset))
            with contextlib.closing(open_to_read(crawl.database)) as db:
                (forged,) = [one for one in pages(db) if one.number == 0]
                assert message_of(crawl, db, forged) is None

    @pytest.mark.parametrize("at", [9e300, -1.0, 1e18])
    def test_with_times_that_no_calendar_has_is_exported(self, tmp_path: Path, at: float) -> None:
        crawl = kept_crawl(tmp_path / "crawl", pages=6)
        with contextlib.closing(sqlite3.connect(crawl.database, isolation_level=None)) as db:
            db.execute("UPDATE pages SET ended = ?", (at,))
        assert export(crawl, Selection("jsonl", every=True), tmp_path / "out")["exported"]
        assert '"time": "1970-01-01T00:00:00Z"' in (tmp_path / "out").read_text()


def test_a_length_of_any_number_of_digits_makes_a_response_that_is_not_whole() -> None:
    for digits in (18, 19, 4301, 100_000):
        found = parse_http_response(b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * digits + b"\r\n\r\nhello")
        assert found is not None and (found.body, found.whole) == (b"hello", False)


@pytest.mark.parametrize("number", ["9" * 4301, "-" + "9" * 4301, "0x" + "f" * 5000, "1" + "0" * 4299])
def test_numbers_of_any_length_in_toml_are_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], number: str
) -> None:
    for section, key in (
        ("crawl", "max_pages"),
        ("politeness", "host_delay"),
        ("crawl", "seeds"),
        ("target", "script"),
    ):
        (tmp_path / "crawl.toml").write_text(f"[{section}]\n{key} = {number}\n")
        assert main(["crawl", str(tmp_path / "crawl.toml"), "--out", str(tmp_path / "out")]) in (1, 2)
        said = capsys.readouterr().err
        assert said.startswith("spoor: ") and said.count("\n") == 1 and len(said) < 500
    with pytest.raises((BadInput, UsageError)):
        read_encoding(f"name = {number}", "the table")
