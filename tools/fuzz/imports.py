"""Fuzzes files of other tools, read with the schemas that come with h123, and schemas that users write."""

import functools
from pathlib import Path

from reader import ROOT, Reader

from h123.store import Rows
from h123.store.foreign.samples import read_requests
from h123.study import Schema, load_schema

_OHA = (
    "request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status",
    "0.0,0,0.02,0.05,0.051,20000,200",
    "1.5e-1,0,0,0.05,0.051,20000,200",
)
_K6_CSV = (
    "metric_name,timestamp,metric_value,check,error,error_code,group,method,name,proto,scenario,status",
    "http_req_duration,1595325560000000000,221.899,,,,,GET,u,HTTP/1.1,default,200",
    'http_req_duration,1595325561000000000,221.899,,"dial, no",,,GET,u,HTTP/2.0,default,0',
    "vus,1595325561000000000,2,,,,,,,,,",
)
_POINT = '{"type": "Point", "data": {"time": "2024-05-09T14:34:%s+02:00", "value": 250.5, '
_POINT += '"tags": {"proto": "HTTP/%s", %s}}, "metric": "http_req_duration"}'
_K6 = (
    '{"type":"Point","data":{"time":"2024-05-09T14:34:44Z","value":5,"tags":null},"metric":"vus"}',
    _POINT % ("10.239531499", "1.1", '"status": "200", "error": ""'),
    _POINT % ("11", "2.0", '"status": "0", "error": "dial: i/o timeout"'),
)


@functools.cache
def _schema(name: str) -> Schema:
    return load_schema(name)


def _reader(schema: str, file: str, corpus: tuple[str, ...]) -> Reader:
    def read(case: bytes, folder: Path) -> None:
        (folder / file).write_bytes(case)
        rows = [request.sample for request in read_requests(folder / file, _schema(schema)).requests]
        Rows.of(rows)

    return Reader(f"import-{schema}", read, lambda: ["\n".join([*corpus, ""]).encode()])


def _read_schema(case: bytes, folder: Path) -> None:
    (folder / "own.yaml").write_bytes(case)
    load_schema(str(folder / "own.yaml"))


def _schemas() -> list[bytes]:
    return [path.read_bytes() for path in sorted((ROOT / "schemas").glob("*.yaml"))]


_H2LOAD = tuple((ROOT / "tests/results/foreign/h2-1.log").read_text(encoding="utf-8").splitlines()[:6])
_JMETER = (
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,failureMessage,bytes,Latency,Connect",
    "1790000000000,228,h1,200,OK,block 1,true,,1430,223,0",
    "1790000000228,9,h1,Non HTTP response code: java.net.SocketTimeoutException,out,block 1,false,,0,,0",
)
_FORTIO = ('{"latency":0.002,"timestamp":1790000000000000000,"thread":0,"iter":0,"ok":true,"details":"200"}',)
_FOREIGN = ROOT / "tests/results/foreign"
IMPORTS = (
    _reader("oha", "h2-1.csv", _OHA),
    _reader("h2load", "h2-1.log", _H2LOAD),
    _reader("k6", "run-1.json", _K6),
    _reader("k6-csv", "run-1.csv", _K6_CSV),
    _reader("jmeter", "h1-1.jtl", _JMETER),
    _reader("fortio", "h1-1.log", _FORTIO),
    _reader("autocannon", "h1-1.json", ((_FOREIGN / "autocannon.json").read_text(encoding="utf-8"),)),
    _reader("locust", "h1-1_stats.csv", ((_FOREIGN / "locust_stats.csv").read_text(encoding="utf-8"),)),
    _reader("nighthawk", "h1-1.json", ((_FOREIGN / "nighthawk.json").read_text(encoding="utf-8"),)),
    Reader("schema", _read_schema, _schemas),
)
