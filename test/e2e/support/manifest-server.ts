/**
 * Runs inside a lab: answers every request with what a file says, "<status> <body>", read again each time.
 * Usage: manifest-server.ts PORT FILE
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import process from 'node:process'

const [port, file = ''] = process.argv.slice(2)
createServer((request, response) => {
  const [, status, body] = /^(\d+) (.*)$/s.exec(readFileSync(file, 'utf8')) ?? []
  console.log(request.headers['x-node'] ?? 'no header')
  response.writeHead(Number(status)).end(body)
}).listen(Number(port), '127.0.0.1')
