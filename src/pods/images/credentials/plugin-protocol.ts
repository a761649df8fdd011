import { parseGoDuration } from '../../../model/config/values/go-duration.ts'
import type { KeyringEntry } from './compute-credentials.ts'
import type { Login } from './credential.ts'
import { isRecord } from '../../../base/document/is-record.ts'

/** What an answer of a plugin is kept for: this image, all of its registry, or every image. */
export type CacheKeyType = 'Image' | 'Registry' | 'Global'

/** The service account that a plugin is asked for. */
interface AskingAccount {
  readonly token: string
  readonly annotations: Readonly<Record<string, string>>
}

/** What a credential plugin answered. */
export interface PluginAnswer {
  readonly logins: readonly KeyringEntry<Login>[]
  readonly cacheKeyType: CacheKeyType
  /** Undefined: as long as the configuration says. */
  readonly cacheMs: number | undefined
}

/** An answer that breaks the protocol. Its message never quotes the answer, which holds passwords. */
export class PluginAnswerError extends Error {
  override readonly name = 'PluginAnswerError'
}

const CACHE_KEY_TYPES: readonly unknown[] = ['Image', 'Registry', 'Global'] satisfies CacheKeyType[]

/** The question that a plugin reads from its standard input. It may hold a token: never logged. */
export function formatPluginRequest(apiVersion: string, repository: string, account?: AskingAccount): string {
  const { token: serviceAccountToken, annotations = {} } = account ?? {}
  return JSON.stringify({
    apiVersion,
    kind: 'CredentialProviderRequest',
    image: repository,
    serviceAccountToken,
    serviceAccountAnnotations: Object.keys(annotations).length === 0 ? undefined : annotations,
  })
}

/** The answer that a plugin wrote to its standard output. */
export function parsePluginAnswer(text: string, apiVersion: string): PluginAnswer {
  const answer = parseObject(text)
  expect(answer['kind'] === 'CredentialProviderResponse', 'kind is not CredentialProviderResponse')
  expect(answer['apiVersion'] === apiVersion, `apiVersion is not ${apiVersion}, which the configuration names`)
  const { cacheKeyType, cacheDuration = null, auth = null } = answer
  expect(CACHE_KEY_TYPES.includes(cacheKeyType), 'cacheKeyType is none of Image, Registry and Global')
  expect(auth === null || isRecord(auth), 'auth is not an object')
  return {
    logins: Object.entries(auth ?? {}).map(([location, login]) => ({ location, value: parseLogin(location, login) })),
    cacheKeyType: cacheKeyType as CacheKeyType,
    cacheMs: cacheDuration === null ? undefined : parseDuration(cacheDuration),
  }
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    throw new PluginAnswerError('the answer is not JSON')
  }
  expect(isRecord(answer), 'the answer is not a JSON object')
  return answer
}

function parseLogin(location: string, login: unknown): Login {
  const { username = '', password = '' } = isRecord(login) ? login : { username: null }
  expect(
    typeof username === 'string' && typeof password === 'string',
    `auth of ${JSON.stringify(location)} is not an object with the texts username and password`,
  )
  return { username, password }
}

function parseDuration(value: unknown): number {
  expect(typeof value === 'string', 'cacheDuration is not a duration such as "10m"')
  try {
    return parseGoDuration(value)
  } catch {
    throw new PluginAnswerError('cacheDuration is not a duration such as "10m"')
  }
}

function expect(isTrue: boolean, problem: string): asserts isTrue {
  if (!isTrue) throw new PluginAnswerError(problem)
}
