"""hdtrace view and hdtrace watch --page: what the servers answer, and to whom."""

import http.client
import re
import signal
import socket
import struct
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import hdtrace
import pytest
from projects_of_lines import write_project
from support.runs import BUILD
from test_page import NAME, SHOWN


@contextmanager
def serving(*arguments):
    """The address that the command prints."""
    with subprocess.Popen([BUILD / "bin/hdtrace", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            line = server.stdout.readline()
            yield re.search(r"http://\S+", line)[0]
        finally:
            server.send_signal(signal.SIGINT)
            assert server.wait(20) == -signal.SIGINT and server.stderr.read() == ""


@pytest.fixture(scope="module")
def address(heat):
    with serving("view", heat) as url:
        yield url


def answer(url, path=None, method="GET", **headers):
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=20)
    connection.request(method, parts.path if path is None else path, headers=headers)
    got = connection.getresponse()
    return got.status, got.read()


def test_shows_the_page_without_complaint(browser, address, heat):
    browser.said.clear()
    browser.requests.clear()
    browser.resize(1280, 800)
    browser.open(address, "#timeline")
    with hdtrace.open(heat) as project:
        calls = sum(1 for _ in project.calls(unfinished=True))
    browser.wait_for("hdtrace.run.isLoaded")
    browser.frames()
    assert browser.ask("hdtrace.timeline.drawing.drawn.calls") == calls
    assert browser.said == []
    assert {urlsplit(one).netloc for one in browser.requests if one.startswith("http")} == {urlsplit(address).netloc}


def test_gets_calls_when_they_are_looked_at(browser, address):
    browser.requests.clear()
    browser.open(address, "#summary")
    assert not any("/data-0-lanes-" in one for one in browser.requests)
    browser.ask("location.hash = '#timeline'")
    browser.wait_for("hdtrace.run.isLoaded")
    assert sum("/data-0-lanes-" in one for one in browser.requests) == 1  # few calls are in one section


def test_finds_calls_that_were_not_looked_at(browser, address):
    browser.open(address, "#summary")
    browser.ask("hdtrace.timeline.find(hdtrace.timeline.search.value = 'Allreduce')")
    browser.wait_for("/[1-9].* calls/.test(hdtrace.timeline.matches.textContent)")


def test_says_when_the_server_has_ended(browser, heat):
    with serving("view", heat) as url:
        browser.open(url, "#summary")
    browser.ask("location.hash = '#timeline'")
    browser.wait_for("!document.getElementById('problem').hidden")
    browser.said.clear()


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1", "[::1]:80"])
def test_answers_the_names_of_this_machine(address, host):
    assert answer(address, Host=host)[0] == 200


@pytest.mark.parametrize("host", ["example.com", "127.0.0.1.example.com", "0.0.0.0", "", "[x", "localhost.evil"])
def test_refuses_other_hosts(address, host):
    status, text = answer(address, Host=host)
    assert status == 403 and b"script" not in text


def test_refuses_who_does_not_know_the_token(address):
    token = urlsplit(address).path.strip("/")
    assert len(token) >= 32
    for path in ("/", "//", "/x/", f"/{token[:-1]}/", f"/{token}", f"/{token}x/", f"/x/{token}/data-0-shares"):
        assert answer(address, path)[0] == 403, path


def test_has_nothing_else(address):
    path = urlsplit(address).path
    assert answer(address, f"{path}data-0-shares")[0] == 200
    for other in ("data-0-lanes-99", "../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "facts-0"):
        assert answer(address, path + other)[0] == 404, other
    assert answer(address, method="POST")[0] == 501
    assert answer(address, method="HEAD") == (200, b"")


def test_only_this_machine_reaches_it(address):
    listening = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:] if line.split()[3] == "0A"]
    port = f"{urlsplit(address).port:04X}"
    assert [place.split(":")[0] for _, place, *_ in listening if place.endswith(f":{port}")] == ["0100007F"]


@pytest.mark.parametrize("port", ["-1", "65536", "x"])
def test_wrong_ports_are_refused(heat, port):
    run = subprocess.run([BUILD / "bin/hdtrace", "view", heat, f"--port={port}"], capture_output=True, text=True)
    assert run.returncode == 2 and "--port" in run.stderr


@pytest.mark.parametrize("words", [["view"], ["watch", "--page"]])
def test_a_port_that_is_taken_is_named(tmp_path, words):
    write_project(tmp_path, "")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        run = subprocess.run([BUILD / "bin/hdtrace", *words, tmp_path, f"--port={port}"], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout, run.stderr) == (1, "", f"hdtrace: --port {port}: Address already in use\n")


def test_a_browser_that_goes_away_is_no_error(heat):
    at_once = struct.pack("ii", 1, 0)  # with a reset
    with serving("view", heat) as url:
        with socket.create_connection((urlsplit(url).hostname, urlsplit(url).port)) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
            connection.sendall(b"GET")
        assert answer(url)[0] == 200


def test_a_selected_time_has_no_sums_before_its_calls_are_there(browser, address):
    browser.open(address, "#summary")
    browser.ask("hdtrace.timeline.select(0, hdtrace.run.duration)")
    text = browser.ask("hdtrace.timeline.details.textContent")
    assert "selected" in text and "zoom in" in text and "%" not in text and "messages" not in text


def test_a_run_is_watched_in_a_page(browser, tmp_path):
    """The ends of traces of two processes that wait for each other."""
    stuck = "<Recv cid='0' fromRank='{}' fromTag='7' name='" + NAME + "' time='1' end='9' unfinished='1' />\n"
    write_project(tmp_path, stuck.format(1), stuck.format(0))
    browser.said.clear()
    with serving("watch", tmp_path, "--page", "--every", "0.1", "--stuck-seconds", "1") as url:
        browser.open(url)
        browser.wait_for("document.querySelector('main').textContent.includes('can never go on')")
        assert browser.ask("[...document.querySelectorAll('.process')].map(one => one.textContent).join()") == "0,1"
        assert browser.ask("document.querySelectorAll('.graph .box.circle').length") == 2
        assert SHOWN in browser.ask("document.querySelector('main').textContent") and browser.ask("document.querySelectorAll('img').length") == 0
        assert browser.said == []
        lines = (tmp_path / "app_node01_0_0.trc").read_text().replace(" unfinished='1'", "")
        for rank in (0, 1):
            (tmp_path / f"app_node01_{rank}_0.trc").write_text(lines.replace("</Program>", "<Finalize time='10' end='11' />\n</Program>"))
        browser.wait_for("document.querySelector('main').textContent.includes('MPI_Finalize')")
        time.sleep(0.2)
