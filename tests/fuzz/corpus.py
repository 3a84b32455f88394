"""Good inputs to begin with, and the signs that mean something in them."""

from __future__ import annotations

import gzip

from tests.chaos.encodings import COMPRESS
from tests.made_documents import docx, epub, odt
from tests.warcs import page, record, response

URLS = b"http://user:pw@a.test:80/a/../b;c?d=e&utm_source=f#g HTTPS://A.test/%7ex%3f ../x/./y //b.test ?q".split()
URL_SIGNS = "http:// https: // /../ /. @ : ? # [::1] xn-- %2e \\ 。 ;jsessionid= index.html www.".encode().split()

ROBOTS = [
    b"""# rules
User-agent: *
Disallow: /private/*.html$
Allow: /private/a%2Fb?c
Crawl-delay: 2.5

User-agent: Spoor/1.0
User-agent: other
Request-rate: 1/10m
Disallow: /dir
Sitemap: http://a.test/s.xml
""",
    b"User-agent: spoor\nAllow: /\nDisallow: /x$",
    b"User-agent: *\nDisallow: /\n",
]
ROBOTS_SIGNS = b"User-agent: Disallow: Allow:/ * $ # : / Crawl-delay: Request-rate:1/ %41 \nDisallow:/".split(b" ")

HTML = [
    b"""text/html; charset=utf-8
<html lang=en><head><title>T</title><base href=/x/><link rel=canonical href=/c><link rel=alternate hreflang=de href=/d>
<meta name=robots content=noindex><meta http-equiv=refresh content="0; url=/r"><meta charset=utf-8></head><body><nav>
<a href=1>one</a></nav><h1>Head</h1><p>Words <b>and <i>more</b></i> <a href="two?x=1#y" rel=nofollow>2</a><table><tr>
<td><a href=//b.test/><img alt=p></a></table><select><option>o</select><svg><a href=s>x</a></svg><!-- c --><script>x
</script><time datetime=2020-01-02>then</time><iframe src=/f></iframe><noscript><a href=/n>n</a></noscript>""",
    b"\n<p>x",
    b"text/html; charset=shift_jis\n<a href=\x83\\>\x82\xa0</a>",
    b"text/html\n\xff\xfe<\0p\0",
]
HTML_SIGNS = (
    b"< > </ <b> </b> <p> <a/href= <table> <td> <svg> <math> <!-- --> <script> <select> <template> &#x &amp; = <body/"
).split()

SITEMAPS = [
    b"""<?xml version="1.0" encoding="UTF-8"?><urlset xmlns:x="http://www.w3.org/1999/xhtml"><url><loc>http://a.test/</loc>
<x:link rel="alternate" hreflang="th" href="/th"/><lastmod>2026-01-02</lastmod></url></urlset>""",
    b"<sitemapindex><sitemap><loc>http://a.test/s.xml.gz</loc></sitemap></sitemapindex>",
    b"<rss><channel><language>th</language><item><link>/a</link><guid isPermaLink='no'>x</guid></item></channel></rss>",
    b"<feed xml:lang='th'><entry><link rel='alternate' href='/a'/><updated>2026-01-02</updated></entry></feed>",
    b"http://a.test/\nhttp://a.test/b\r\n",
    b"<?xml version='1.0' encoding='shift_jis'?><!DOCTYPE rss [<!ENTITY a 'b'>]><rss>&a;</rss>",
]
SITEMAP_SIGNS = (
    b"<url> </url> <loc> </loc> <item> <entry> <link href= &nbsp; &#x <![CDATA[ ]]> <!-- <!ENTITY <? ?>".split()
)

ENCODED = [name.encode() + b"\n" + compress(b"<p>Words to be packed. " * 30) for name, compress in COMPRESS.values()]
ENCODING_SIGNS = [
    *b"gzip, br, zstd, deflate,".split(),
    b"\x1f\x8b\x08\0\0\0\0\0\0\3",
    b"\x28\xb5\x2f\xfd",
    b"\x50\x2a\x4d\x18",
    b"\x78\x9c",
    gzip.compress(b""),
]

SETTINGS = [
    b"""[target]
language = "th"
keywords = ["a b", "c*"]
require = "language and not keywords"
[crawl]
seeds = ["http://a.test/"]
strategy = "learned"
max_pages = 10
[scope]
include = ['^https?://']
[politeness]
host_delay = 1.5
[limits]
parse_seconds = 5
"""
]
SETTING_SIGNS = b"[ ] = [crawl]\n [[x]] ''' 1979-05-27 true { max_depth= 0x inf workers= , \\u0000".split(b" ")

RECORDED = [
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9\r\n\r\n<p>nine!!",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n<p>x\r\n2;a=b\r\nyz\r\n0\r\n\r\n",
    b"HTTP/1.0 302 Found\r\nLocation: /x\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(b"<p>packed"),
]
HTTP_SIGNS = b"HTTP/1.1|\r\n\r\n|Content-Length: |Content-Encoding: br\r\n|ffffffff\r\n|0\r\n|:|chunked".split(b"|")

_PAGES = page("http://a.test/", "/b", "c?d") + response("http://a.test/b", "", 301, location="/")
_WARC = _PAGES + record("metadata", "x", b"y")
WARCS = [_WARC, gzip.compress(_WARC), gzip.compress(_WARC[:200]) + gzip.compress(_WARC[200:])]
WARC_SIGNS = b"WARC/1.0\r\n|\r\n\r\n|Content-Length: |WARC-Type: response\r\n|HTTP/1.1 200 OK\r\n|\x1f\x8b".split(b"|")

_WAT_JSON = (
    b'{"Envelope": {"Payload-Metadata": {"HTTP-Response-Metadata": {"Response-Message": {"Status": "200"}, "Headers": '
    b'{"Content-Type": "text/html"}, "HTML-Metadata": {"Head": {"Metas": [{"charset": "tis-620"}], "Base": "/x/"}, '
    b'"Links": [{"path": "A@/href", "url": "../b", "text": "b"}]}}}}}'
)
_EXTRACT = (
    b"WARC/1.0\r\nWARC-Type: %s\r\nWARC-Target-URI: http://a.test/\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s"
)
EXTRACTS = [
    _EXTRACT % (b"metadata", b"application/json", len(_WAT_JSON), _WAT_JSON),
    _EXTRACT % (b"conversion", b"text/plain", 10, b"Title\ntext"),
]
EXTRACT_SIGNS = [*WARC_SIGNS, *b'{ } [ ] null "" : , "Envelope" "Links" 200 "url"'.split(b" ")]

LOGS = [
    b"url,status,content_type,meta_charset,language,label,bytes,seconds,redirect\nhttp://a.test/,200,text/html,tis-620,th,x,1,0.5,\n",
    b"2011-06-23T17:12:09Z 200 15 http://a.test/b LR http://a.test/ text/html #025 20110623171208546+922 sha1:7A - -\n",
    b" CDX N b a m s k r M S V g\ntest,a)/ 20150914222034 http://a.test/ text/html 200 ZM - - 8 1 w.warc.gz\n",
    b'test,a)/ 20240518015810 {"url": "http://a.test/", "mime": "text/html", "status": "200", "languages": "tha"}\n',
]
LOG_SIGNS = b'\n|\r|\t|,|;| |"|-|{|}|null|[|:|url|http://|dns:|1e999|nan|\x1f\x8b|PAR1|!|CDX'.split(b"|")

MODEL_SIGNS = b'spoor "bytes": { } [ ] null "" \n - 1e308 1e999 true , :'.split(b" ")

ROWS = [b"http://a.test/x\ntimed out\nTitle", b"http://b.test:8080/?q\n\n"]
FORGERIES = [b"\0\1\2\3\4\5\6\7 text", b'\0\x09\1{"a": 1}', b"\2\7\2[1, 2]", b"\0\x11\0" + bytes(180), b"\1\3\3"]

_WORD = (
    '<w:p><w:hyperlink r:id="r"><w:r><w:t>word</w:t></w:r></w:hyperlink><w:instrText>HYPERLINK "/x"</w:instrText></w:p>'
)
_OPEN = '<text:h>head</text:h><text:p>word<text:s/><text:a xlink:href="/more">more</text:a></text:p>'
DOCUMENTS = [
    docx(_WORD, "title", {"r": "http://b.test/"}),
    odt(_OPEN, "title"),
    epub({"one.xhtml": "<title/><p>one <a href='http://b.test/'>two</a>", "two.xhtml": "<p>three"}, "title"),
    f'<?xml version="1.0" encoding="UTF-8"?><d xmlns:w="urn:w" xmlns:r="urn:r">{_WORD}</d>'.encode(),
    f'<d xmlns:text="urn:text" xmlns:xlink="urn:xlink">{_OPEN}</d>'.encode(),
]
DOCUMENT_SIGNS = (
    b"PK\x01\x02 PK\x03\x04 PK\x05\x06 <!DOCTYPE <!ENTITY <![CDATA[ ]]> &amp; &#0; </ /> <w:p> </w:p> <w:t> "
    b"<w:Fallback> <w:fldChar/> <text:p> </text:p> <text:a> </text:a> <text:annotation> "
    b"\xff\xfe encoding='utf-16' xmlns='"
).split()
