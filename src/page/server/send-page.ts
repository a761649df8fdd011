import type { ServerResponse } from 'node:http'
import { DATA_HEADERS } from './page-headers.ts'

export function sendPlain(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { ...DATA_HEADERS, 'content-type': 'text/plain; charset=utf-8' })
  response.end(text)
}

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { ...DATA_HEADERS, 'content-type': 'application/json' })
  response.end(JSON.stringify(value))
}
