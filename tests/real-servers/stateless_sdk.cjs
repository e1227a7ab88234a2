// A small stateless server on the TypeScript SDK, over HTTP.
//
//   node stateless_sdk.cjs DIR PORT
//
// DIR holds node_modules. One server object serves all requests, each over a transport of its own, as many programs had it while
// the SDK let them: up to 1.25.3 the answers of clients that use the same ids at the same time are swapped. From 1.26.0 on the
// SDK refuses a second transport while the first is connected, and that request is given a server of its own.
const http = require('node:http');
const path = require('node:path');
const { createRequire } = require('node:module');

const [directory, port] = process.argv.slice(2);
const from = createRequire(path.join(path.resolve(directory), 'package.json'));
const { McpServer } = from('@modelcontextprotocol/sdk/server/mcp.js');
const { StreamableHTTPServerTransport } = from('@modelcontextprotocol/sdk/server/streamableHttp.js');
const { z } = from('zod');

function makeServer() {
  const made = new McpServer({ name: 'stateless', version: '1.0.0' });
  const look = async ({ word }) => {
    await new Promise((done) => setTimeout(done, 5 + Math.random() * 20));
    return { content: [{ type: 'text', text: `looked up ${word}` }] };
  };
  made.registerTool('look_up', { description: 'Looks a word up.', inputSchema: { word: z.string() } }, look);
  return made;
}

const shared = makeServer();

async function serve(request, response) {
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  response.on('close', () => transport.close());
  try {
    await shared.connect(transport);
  } catch {
    await makeServer().connect(transport);
  }
  await transport.handleRequest(request, response);
}

http
  .createServer((request, response) =>
    serve(request, response).catch((error) => {
      if (!response.headersSent) response.writeHead(500).end(String(error));
    }),
  )
  .listen(Number(port), '127.0.0.1');
