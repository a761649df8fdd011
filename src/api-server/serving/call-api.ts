import type { RequestUser } from '../kinds/resource.ts'
import type { Api } from '../rest/create-api.ts'
import { formatExactJson } from '../../base/document/exact-json.ts'

/** A request of the server's own parts to its API. */
export interface OwnCall {
  readonly method: 'POST' | 'PUT' | 'DELETE'
  /** The path. */
  readonly target: string
  readonly body?: object
}

/** The API has rejected a request of its own server. */
export class OwnCallError extends Error {
  override readonly name = 'OwnCallError'
  readonly code: number

  constructor({ method, target }: OwnCall, code: number, answer: string) {
    super(`Cannot ${method} "${target}": ${code} ${answer.slice(0, 500)}`)
    this.code = code
  }
}

/** Sends a request past the guard, so that the server's own parts follow the same rules of objects as all others. */
export async function callApi(api: Api, user: RequestUser, call: OwnCall): Promise<void> {
  const bytes = new TextEncoder().encode(call.body === undefined ? '' : formatExactJson(call.body))
  const { method, target } = call
  const request = { method, target, headers: {}, user, readBody: () => Promise.resolve(bytes) }
  // Nothing of this kind of request is a stream, so nothing has to be ended.
  const { status, body } = await api.handle(request, new AbortController().signal)
  if (status >= 400) throw new OwnCallError(call, status, typeof body === 'string' ? body : '')
}
