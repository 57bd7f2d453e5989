"""A headless Chromium, driven through its DevTools protocol."""

import base64
import json
import re
import shutil
import subprocess
import tempfile
import time

import websocket

CHROMIUM = shutil.which("chromium")


class Browser:
    """One page. Everything that it says on its console is in `said`, with what was refused and thrown."""

    def __init__(self, width=1280, height=800, dark=False):
        self._directory = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--remote-allow-origins=*",
                     "--no-first-run", "--hide-scrollbars", f"--user-data-dir={self._directory.name}", "about:blank"]
        self._process = subprocess.Popen([CHROMIUM, *arguments], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        address = next(found[1] for found in (re.search(r"listening on (ws://\S+)", line) for line in self._process.stderr) if found)
        self._last = 0
        self._session = None
        self.said = []
        self.requests = []
        self._socket = websocket.create_connection(address, timeout=60)
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.resize(width, height, dark)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.send("Browser.close")
        self._socket.close()
        self._process.wait(20)
        self._process.stderr.close()
        self._directory.cleanup()

    def send(self, method, **parameters):
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._socket.send(json.dumps(message))
        while True:
            answer = json.loads(self._socket.recv())
            if answer.get("id") == self._last:
                assert "error" not in answer, answer["error"]
                return answer.get("result", {})
            self._hear(answer)

    def _hear(self, event):
        parameters = event.get("params", {})
        match event["method"]:
            case "Runtime.consoleAPICalled":
                self.said.append([one.get("value", one.get("description")) for one in parameters["args"]])
            case "Runtime.exceptionThrown":
                self.said.append(parameters["exceptionDetails"])
            case "Log.entryAdded":
                self.said.append(parameters["entry"]["text"])
            case "Page.javascriptDialogOpening":
                self.said.append(f"dialog: {parameters['message']}")
            case "Network.requestWillBeSent":
                self.requests.append(parameters["request"]["url"])

    def resize(self, width, height, dark=False):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def ask(self, expression):
        """The value of an expression in the page, also one that is awaited."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait_for(self, expression, seconds=60):
        end = time.monotonic() + seconds
        while not self.ask(expression):
            assert time.monotonic() < end, f"{expression} did not become true; the page said {self.said}"
            time.sleep(0.05)

    def open(self, page, link=""):
        """A file, or an address."""
        address = page if isinstance(page, str) else page.resolve().as_uri()
        self.send("Page.navigate", url="about:blank")
        self.send("Page.navigate", url=f"{address}{link}")
        self.wait_for("document.documentElement?.dataset.ready === 'yes'")
        self.frames()

    def frames(self):
        """Until what was asked for is drawn."""
        self.ask("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def press(self, *keys):
        for key in keys:
            text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
            self.send("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=13 if key == "Enter" else 9 if key == "Tab" else 0, **text)
            self.send("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.frames()

    def mouse(self, kind, x, y, **more):
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)
        self.frames()

    def drag(self, begin, end, **more):
        self.mouse("mousePressed", *begin, button="left", clickCount=1, **more)
        self.mouse("mouseMoved", *end, button="left", buttons=1, **more)
        self.mouse("mouseReleased", *end, button="left", clickCount=1, **more)

    def picture(self):
        return base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"])
