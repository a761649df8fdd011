import { each, get, patch, post, remove } from '../contract-case.ts'
import type { ContractCase, ContractTable } from '../contract-case.ts'
import { pod, PODS } from './objects.ts'

// The largest integer of 64 bits; a number of JavaScript would round it, so bodies are texts.
const EVER = '9223372036854775807'
const MARK = '"EVER"'

/** An object as JSON, with the number in the place of each "EVER". */
const textOf = (object: object) => JSON.stringify(object).replaceAll(MARK, EVER)

const toleration = (fields: object = {}) => ({
  tolerations: [
    { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 'EVER' },
  ],
  ...fields,
})

/** What a pod is created with. */
const specs: Readonly<Record<string, object>> = {
  'a toleration': toleration(),
  'a grace': { terminationGracePeriodSeconds: 'EVER' },
  'a toleration and a grace': toleration({ terminationGracePeriodSeconds: 'EVER' }),
  'a deadline of what 32 bits hold': { activeDeadlineSeconds: 2_147_483_647 },
}

/** What no pod may have. */
const refused: Readonly<Record<string, object>> = {
  'a deadline': { activeDeadlineSeconds: 'EVER' },
  'a deadline of one more than 32 bits hold': { activeDeadlineSeconds: 2_147_483_648 },
}

const TIMES = [
  'spec.terminationGracePeriodSeconds',
  'spec.activeDeadlineSeconds',
  'spec.tolerations',
  'metadata.deletionGracePeriodSeconds',
  'metadata.deletionTimestamp',
  'code',
  'reason',
]

/** Created, read, changed elsewhere and deleted, on a node that never answers. */
function lives(name: string, spec: object): ContractCase {
  return each(
    name,
    post(PODS, textOf(pod('p', { nodeName: 'node-1', ...spec })), { shows: TIMES }),
    get(`${PODS}/p`, { shows: TIMES }),
    patch('merge', `${PODS}/p`, { metadata: { labels: { a: 'b' } } }, { shows: TIMES }),
    remove(`${PODS}/p`, undefined, { shows: TIMES }),
    get(`${PODS}/p`, { shows: TIMES }),
    remove(`${PODS}/p?gracePeriodSeconds=0`, undefined, { shows: 'code' }),
    get(`${PODS}/p`, { shows: 'code' }),
  )
}

/** Times that no machine lives to see the end of. */
export const longTimes: ContractTable = {
  name: 'long-times',
  cases: [
    ...Object.entries(specs).map(([name, spec]) => lives(name, spec)),
    ...Object.entries(refused).map(([name, spec]) => each(name, post(PODS, textOf(pod('p', { ...spec }))))),
    each(
      'a grace that comes with the deletion',
      post(PODS, pod('p', { nodeName: 'node-1' }), { shows: 'code' }),
      remove(`${PODS}/p`, `{"gracePeriodSeconds":${EVER}}`, { shows: TIMES }),
      remove(`${PODS}/p?gracePeriodSeconds=${EVER}`, undefined, { shows: TIMES }),
      remove(`${PODS}/p?gracePeriodSeconds=0`, undefined, { shows: 'code' }),
    ),
    each(
      'a deadline that comes later',
      post(PODS, pod('p'), { shows: 'code' }),
      patch('merge', `${PODS}/p`, `{"spec":{"activeDeadlineSeconds":${EVER}}}`, { shows: TIMES }),
      patch('merge', `${PODS}/p`, { spec: { activeDeadlineSeconds: 2_147_483_647 } }, { shows: TIMES }),
      remove(`${PODS}/p?gracePeriodSeconds=0`, undefined, { shows: 'code' }),
    ),
    each(
      'a toleration that comes later',
      post(PODS, pod('p', { nodeName: 'node-1' }), { keep: 'p', shows: 'code' }),
      patch(
        'json',
        `${PODS}/p`,
        textOf([{ op: 'add', path: '/spec/tolerations/-', value: toleration().tolerations[0] }]),
        { shows: TIMES },
      ),
      remove(`${PODS}/p?gracePeriodSeconds=0`, undefined, { shows: 'code' }),
    ),
  ],
}
