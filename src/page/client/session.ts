import type { SessionView } from '../messages/page-message.ts'

// Beside the cookie, which scripts cannot read. Kept for all tabs of this origin, which has its port in it.
const KEY = 'deckhand-key'

/** The server does not know this session any more. */
export class SignedOutError extends Error {}

/** The server answered, and refused. */
export class AnswerError extends Error {
  readonly status: number

  constructor(message: string, status: number) {
    super(message)
    this.status = status
  }
}

interface AskInit extends Omit<RequestInit, 'headers'> {
  readonly headers?: Readonly<Record<string, string>>
}

/** A request with both halves of the session. */
export async function ask(path: string, init: AskInit = {}): Promise<Response> {
  const headers = { ...init.headers, 'x-deckhand-key': sessionKey() }
  const response = await fetch(path, { ...init, headers, cache: 'no-store' })
  if (response.status === 401) throw new SignedOutError('you are not signed in any more')
  if (!response.ok) throw new AnswerError(await readRefusal(response), response.status)
  return response
}

/** The half of the session that the page has; for what cannot send a header. */
export function sessionKey(): string {
  return localStorage.getItem(KEY) ?? ''
}

/** What is sent with a request that changes something. */
interface Change {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly type?:
    | 'application/json'
    | 'application/merge-patch+json'
    | 'application/strategic-merge-patch+json'
    | 'application/apply-patch+yaml'
  /** A value for JSON, or text as it is. */
  readonly body?: object | string
}

/** Changes something, with the user's own rights; gives the answer. */
export async function change<T>(path: string, { method, type = 'application/json', body }: Change): Promise<T> {
  const text = typeof body === 'object' ? JSON.stringify(body) : body
  const init = text === undefined ? { method } : { method, body: text, headers: { 'content-type': type } }
  return (await (await ask(path, init)).json()) as T
}

export async function askJson<T>(path: string, signal: AbortSignal): Promise<T> {
  return (await (await ask(path, { signal })).json()) as T
}

/** Who is signed in. After a new link the key of the session is fetched first, which works once. */
export async function openSession(): Promise<SessionView> {
  try {
    if (localStorage.getItem(KEY) !== null) return (await (await ask('/session')).json()) as SessionView
  } catch (error) {
    if (!(error instanceof SignedOutError)) throw error
  }
  const { key } = (await (await ask('/session', { method: 'POST' })).json()) as { readonly key: string }
  localStorage.setItem(KEY, key)
  return (await (await ask('/session')).json()) as SessionView
}

export async function closeSession(): Promise<void> {
  await ask('/session', { method: 'DELETE' })
  localStorage.removeItem(KEY)
}

/** The message of a Status of the API, or the text as it is. */
async function readRefusal(response: Response): Promise<string> {
  const text = await response.text()
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown }
    if (typeof message === 'string') return message
  } catch {
    // It is no Status.
  }
  return text.trim() || `the server answered ${response.status}`
}
