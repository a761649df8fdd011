import { formatExactJson, parseExactJson } from '../../../src/base/document/exact-json.ts'
import type { ApiRequest } from '../../../src/api-server/rest/api-request.ts'
import type { Api } from '../../../src/api-server/rest/create-api.ts'
import { admin } from './create-test-api.ts'

export interface Answer {
  readonly status: number
  // Tests check the fields that they expect.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
  readonly headers: Readonly<Record<string, string | readonly string[]>>
}

export interface CallOptions {
  readonly body?: unknown
  readonly type?: string
  readonly accept?: string
  readonly user?: ApiRequest['user']
}

const PATCH_TYPES: Readonly<Record<string, string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
}

/** Calls the API as a function and parses what comes back; "PATCH:merge" names the kind of a patch. */
export async function call(api: Api, method: string, target: string, options: CallOptions = {}): Promise<Answer> {
  const [verb = '', patch] = method.split(':')
  const text = options.body === undefined ? '' : toText(options.body)
  const type = options.type ?? (patch === undefined ? undefined : PATCH_TYPES[patch])
  const answer = await api.handle(
    {
      method: verb,
      target,
      headers: { accept: options.accept, 'content-type': type },
      user: options.user ?? admin,
      readBody: () => Promise.resolve(Buffer.from(text)),
    },
    new AbortController().signal,
  )
  if (typeof answer.body !== 'string') throw new Error('Cannot read the answer: it is a stream')
  return { status: answer.status, body: parse(answer.body), headers: answer.headers }
}

function toText(body: unknown): string {
  return typeof body === 'string' ? body : formatExactJson(body)
}

function parse(text: string): unknown {
  return text.startsWith('{') ? parseExactJson(text) : text
}

export interface WatchFrame {
  readonly type: string
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly object: any
}

/** A watch, frame by frame, until the signal aborts. */
export async function* watch(api: Api, target: string, signal: AbortSignal): AsyncGenerator<WatchFrame> {
  const answer = await api.handle(
    { method: 'GET', target, headers: {}, user: admin, readBody: () => Promise.resolve(new Uint8Array()) },
    signal,
  )
  if (typeof answer.body === 'string') {
    yield { type: 'ERROR', object: JSON.parse(answer.body) as unknown }
    return
  }
  for await (const text of answer.body) {
    for (const line of String(text).split('\n')) if (line !== '') yield JSON.parse(line) as WatchFrame
  }
}
