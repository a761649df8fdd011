import { isRecord } from '../../base/document/is-record.ts'
import type { AccessQuestion } from '../messages/page-message.ts'
import type { WantedForward } from './forwards/port-forwards.ts'

const MOST_QUESTIONS = 40
const LONGEST = 253
const FIELDS = ['verb', 'group', 'resource', 'subresource', 'namespace', 'name'] as const

/** The questions of a page about what its user may do; undefined for anything else. */
export function parseAccessQuestions(text: string): readonly AccessQuestion[] | undefined {
  const parsed = parseJson(text)
  if (!Array.isArray(parsed) || parsed.length > MOST_QUESTIONS) return undefined
  const questions = parsed.map(toQuestion)
  return questions.every((each) => each !== undefined) ? questions : undefined
}

/** The name of the image that is to be pulled; undefined for anything else. */
export function parsePullRequest(text: string): string | undefined {
  const parsed = parseJson(text) as { readonly image?: unknown } | null | undefined
  const image = parsed?.image
  // The command that pulls it checks the rest of the name; this is so that it is none of its options.
  return typeof image === 'string' && /^[\w[][^\s]*$/.test(image) ? image : undefined
}

const NAME = /^[a-z\d][a-z\d.-]*$/
const MOST_PORT = 65_535

/** The port of a pod that is to be forwarded; undefined for anything else. */
export function parseForwardRequest(text: string): WantedForward | undefined {
  const parsed = parseJson(text)
  if (!isRecord(parsed)) return undefined
  const { namespace, pod, port } = parsed
  if (typeof namespace !== 'string' || typeof pod !== 'string' || typeof port !== 'number') return undefined
  const isNamed = [namespace, pod].every((name) => name.length <= LONGEST && NAME.test(name))
  return isNamed && Number.isInteger(port) && port >= 1 && port <= MOST_PORT ? { namespace, pod, port } : undefined
}

function toQuestion(value: unknown): AccessQuestion | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const fields = FIELDS.map((name) => [name, (value as Readonly<Record<string, unknown>>)[name] ?? ''] as const)
  if (!fields.every(([, field]) => typeof field === 'string' && field.length <= LONGEST)) return undefined
  return Object.fromEntries(fields) as unknown as AccessQuestion
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
