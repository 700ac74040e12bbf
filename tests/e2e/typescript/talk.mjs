// Talks to Commonplace with the MCP clients for TypeScript and prints what came of it, one JSON object a line.
// Arguments: the program of the stdio door and its words. Environment: URL and TOKEN for the way over HTTP.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OldHTTP } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [command, ...args] = process.argv.slice(2);
const stdio = { command, args, env: process.env };
const url = new URL(process.env.URL);
const withToken = { requestInit: { headers: { Authorization: `Bearer ${process.env.TOKEN}` } } };
const who = { name: "typescript", version: "1.0.0" };

const newClient = () => new Client(who, { versionNegotiation: { mode: "auto" } });
const oldClient = () => new OldClient(who);

async function talk(name, client, transport) {
  await client.connect(transport);
  const { tools } = await client.listTools();
  const text = `Was told something by ${name}.`;
  const saved = await client.callTool({ name: "memory_save", arguments: { text, kind: "fact" } });
  const found = await client.callTool({ name: "memory_search", arguments: { query: `told by ${name}` } });
  const many = await Promise.all(
    Array.from({ length: 10 }, (_, n) => client.callTool({ name: "memory_search", arguments: { query: `n${n}`, verbose: true } })),
  );
  const missing = await client.callTool({ name: "note_read", arguments: { path: "None.md" } });
  const note = await client.readResource({ uri: "vault://note/People/Jonas.md" });
  console.log(
    JSON.stringify({
      name,
      era: client.getProtocolEra?.() ?? "legacy",
      server: client.getServerVersion()?.name,
      told: (client.getInstructions() ?? "").length > 0,
      tools: tools.map((tool) => tool.name),
      saved: !saved.isError,
      found: found.content[0].text.includes(text),
      many: many.map((answer) => answer.structuredContent.query),
      missing: missing.isError,
      note: note.contents[0].text,
    }),
  );
  await client.close();
}

await talk("old-stdio", oldClient(), new OldStdio(stdio));
await talk("old-http", oldClient(), new OldHTTP(url, withToken));
await talk("new-stdio", newClient(), new StdioClientTransport(stdio));
await talk("new-http", newClient(), new StreamableHTTPClientTransport(url, withToken));
