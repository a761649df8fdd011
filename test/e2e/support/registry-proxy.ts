/**
 * Runs inside a lab in front of a registry: carries requests there, slows the answers down to what a file says ("<bytes a second>"), and
 * prints a line "<status> <method> <path>" for each answer when it begins.
 * Usage: registry-proxy.ts PORT REGISTRY_PORT SPEED_FILE
 */
import { readFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import process from 'node:process'
import { Transform } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'

const [port, registryPort, speedFile = ''] = process.argv.slice(2)
const CHUNK_BYTES = 16 * 1024

function createThrottle(): Transform {
  return new Transform({
    transform(data: Buffer, _, done) {
      const pass = async () => {
        for (let at = 0; at < data.length; at += CHUNK_BYTES) {
          this.push(data.subarray(at, at + CHUNK_BYTES))
          await sleep((CHUNK_BYTES / Number(readFileSync(speedFile, 'utf8'))) * 1000)
        }
      }
      pass().then(() => done(), done)
    },
  })
}

createServer((incoming, outgoing) => {
  const { method, url = '', headers } = incoming
  const upstream = request({ host: '127.0.0.1', port: registryPort, method, path: url, headers }, (answer) => {
    console.log(`${answer.statusCode} ${method} ${url}`)
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(createThrottle()).pipe(outgoing)
  })
  upstream.on('error', () => outgoing.destroy())
  incoming.pipe(upstream)
}).listen(Number(port), '127.0.0.1')
