# A mail archive on this machine, as far as b4 asks one: answers with the mailbox
# whose name stands in the question, else with all of them.
import gzip, http.server, pathlib, sys, urllib.parse

folder = pathlib.Path(sys.argv[1])


class Archive(http.server.BaseHTTPRequestHandler):
    def answer(self):
        asked = urllib.parse.unquote_plus(self.path)
        boxes = sorted(folder.glob("*.mbox"))
        named = [box for box in boxes if box.stem in asked]
        body = gzip.compress(b"".join(box.read_bytes() for box in named or boxes))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = answer

    def log_message(self, *args):
        print(*args, file=sys.stderr)


server = http.server.HTTPServer(("127.0.0.1", 0), Archive)
print(server.server_port, flush=True)
server.serve_forever()
