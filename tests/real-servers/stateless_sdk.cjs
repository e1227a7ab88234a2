// A small stateless server on the TypeScript SDK, over HTTP.
//
//   node stateless_sdk.cjs DIR PORT shared|own
//
// DIR holds node_modules. `shared` keeps one McpServer and one transport for all requests, as many servers did while the SDK let
// them; `own` makes both anew for each request, as the SDK asks for.
const http = require('node:http');
const path = require('node:path');
const { createRequire } = require('node:module');

const [directory, port, mode] = process.argv.slice(2);
const from = createRequire(path.join(path.resolve(directory), 'package.json'));
const { McpServer } = from('@modelcontextprotocol/sdk/server/mcp.js');
const { StreamableHTTPServerTransport } = from('@modelcontextprotocol/sdk/server/streamableHttp.js');
const { z } = from('zod');

function server() {
  const made = new McpServer({ name: 'stateless', version: '1.0.0' });
  const look = async ({ word }) => {
    await new Promise((done) => setTimeout(done, 5 + Math.random() * 20));
    return { content: [{ type: 'text', text: `looked up ${word}` }] };
  };
  made.registerTool('look_up', { description: 'Looks a word up.', inputSchema: { word: z.string() } }, look);
  return made;
}

async function pair() {
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  await server().connect(transport);
  return transport;
}

const kept = mode === 'shared' ? pair() : undefined;
http
  .createServer(async (request, response) => {
    try {
      const transport = await (kept ?? pair());
      await transport.handleRequest(request, response);
    } catch (error) {
      if (!response.headersSent) response.writeHead(500).end(String(error));
    }
  })
  .listen(Number(port), '127.0.0.1');
