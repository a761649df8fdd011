import { setTimeout as sleep } from 'node:timers/promises'
import type { ApiTarget, WireAnswer } from './api-target.ts'
import type { ContractAnswer, ContractCase, ContractStep, ContractTable } from './contract-case.ts'
import { find, normalizeAnswer } from './normalize-answer.ts'

const TYPES: Readonly<Record<string, string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
}
const PATIENCE_MS = 20_000
const PAUSE_MS = 50

/** The answers to all cases of a table, by the names of the cases. */
export type TableAnswers = Readonly<Record<string, readonly ContractAnswer[]>>

/** Runs the cases of a table in a namespace of its own, which is deleted afterwards. */
export async function runTable(target: ApiTarget, { name, cases }: ContractTable): Promise<TableAnswers> {
  const namespace = `contract-${name}`
  await prepareNamespace(target, namespace)
  const answers: Record<string, readonly ContractAnswer[]> = {}
  for (const each of cases) answers[each.name] = await runCase(target, namespace, each)
  await target.send({ user: 'admin', method: 'DELETE', path: `/api/v1/namespaces/${namespace}`, headers: {} })
  return answers
}

/** What controllers make in a new namespace is there before the first case. */
async function prepareNamespace(target: ApiTarget, name: string): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  const created = await target.send({ user: 'admin', method: 'POST', path: '/api/v1/namespaces', headers, body })
  if (created.status !== 201) throw new Error(`Cannot create namespace "${name}": ${created.text}`)
  for (const path of ['serviceaccounts/default', 'configmaps/kube-root-ca.crt']) {
    const wire = { user: 'admin' as const, method: 'GET', path: `/api/v1/namespaces/${name}/${path}`, headers: {} }
    const { status, text } = await sendUntil(
      () => target.send(wire),
      (answer) => answer.status === 200,
    )
    if (status !== 200) throw new Error(`Cannot use namespace "${name}": it has no ${path}: ${text}`)
  }
}

async function runCase(
  target: ApiTarget,
  namespace: string,
  { steps }: ContractCase,
): Promise<readonly ContractAnswer[]> {
  const kept: Record<string, unknown> = { ns: namespace }
  const answers: ContractAnswer[] = []
  for (const step of steps) {
    const ask = () => target.send(toWire(step, kept))
    const answer = await sendUntil(ask, isDone(step))
    if (step.keep !== undefined) kept[step.keep] = JSON.parse(answer.text)
    answers.push(normalizeAnswer(answer, step))
  }
  return answers
}

/**
 * What a step waits for. The real one watches from a cache, which on a busy machine may not have come to the version that was written last; it says
 * so, and clients ask again.
 */
function isDone({ until, verb, path }: ContractStep): (answer: WireAnswer) => boolean {
  if (until !== undefined) return ({ status }) => status === until
  const asksForMore = /resourceVersion=\d/.test(path)
  return ({ text }) => verb !== 'WATCH' || asksForMore || !text.includes('"ResourceVersionTooLarge"')
}

async function sendUntil(
  ask: () => Promise<WireAnswer>,
  isDoneBy: (answer: WireAnswer) => boolean,
): Promise<WireAnswer> {
  const end = performance.now() + PATIENCE_MS
  for (;;) {
    const answer = await ask()
    if (isDoneBy(answer) || performance.now() > end) return answer
    await sleep(PAUSE_MS)
  }
}

function toWire(step: ContractStep, kept: Readonly<Record<string, unknown>>) {
  const [verb = '', kind = ''] = step.verb.split(':')
  const text = typeof step.body === 'string' ? step.body : JSON.stringify(step.body)
  const path = fill(step.path, kept)
  const type = text === undefined ? {} : { 'content-type': TYPES[kind] ?? 'application/json' }
  return {
    user: step.user ?? 'admin',
    method: verb === 'WATCH' ? 'GET' : verb,
    path: verb === 'WATCH' ? `${path}${path.includes('?') ? '&' : '?'}watch=true` : path,
    headers: { accept: 'application/json', 'user-agent': 'contract', ...type, ...fillAll(step.headers ?? {}, kept) },
    ...(text === undefined ? {} : { body: fill(text, kept) }),
    ...(verb === 'WATCH' && { lines: step.events ?? Number.POSITIVE_INFINITY }),
  }
}

function fillAll(headers: Readonly<Record<string, string>>, kept: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value, kept)]))
}

/** Puts what earlier answers have in the place of its names. */
function fill(text: string, kept: Readonly<Record<string, unknown>>): string {
  return text.replace(/\$\(([^)]+)\)/g, (_, path: string) => {
    const value = find(kept, path.split('.'))
    if (value === undefined) throw new Error(`Cannot fill in "$(${path})": no answer has it`)
    return typeof value === 'string' ? value : JSON.stringify(value)
  })
}
