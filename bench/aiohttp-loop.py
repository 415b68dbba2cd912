"""The reading loop of a Python benchmark client: aiohttp, iter_any, a split on blank lines, json.loads, a time per event.

usage: python3 bench/aiohttp-loop.py --port N --streams S
Prints its own figures as JSON.
"""

import argparse
import asyncio
import json
import sys
import time

import aiohttp

DONE = "[DONE]"


async def read_stream(session, url, body, times, texts):
    """Reads one reply; the reads' times and the events' texts go to the lists."""
    buffer = b""
    async with session.post(url, data=body, headers={"content-type": "application/json"}) as response:
        response.raise_for_status()
        async for chunk in response.content.iter_any():
            now = time.monotonic()
            buffer += chunk
            while True:
                end = buffer.find(b"\n\n")
                if end < 0:
                    break
                event = buffer[:end].decode("utf-8")
                buffer = buffer[end + 2 :]
                data = event[6:] if event.startswith("data: ") else event
                if data == DONE:
                    continue
                message = json.loads(data)
                choices = message["choices"]
                if choices:
                    text = choices[0]["delta"].get("content") or ""
                    if text:
                        times.append(now)
                        texts.append(text)


async def run(port, streams):
    url = f"http://127.0.0.1:{port}/v1/chat/completions"
    body = json.dumps({"model": "bench", "messages": [{"role": "user", "content": "Hi"}], "stream": True}).encode()
    logs = [([], []) for _ in range(streams)]
    connector = aiohttp.TCPConnector(limit=0, limit_per_host=0)
    async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=None)) as session:
        cpu_before = time.process_time()
        await asyncio.gather(*(read_stream(session, url, body, times, texts) for times, texts in logs))
        cpu_s = time.process_time() - cpu_before
    lateness = [
        {"stampMs": int(text) / 1000, "lateMs": now * 1000 - int(text) / 1000}
        for times, texts in logs
        for now, text in zip(times, texts)
    ]
    return {"cpuS": cpu_s, "events": len(lateness), "lateness": lateness}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--streams", type=int, required=True)
    args = parser.parse_args()
    json.dump(asyncio.run(run(args.port, args.streams)), sys.stdout)


main()
