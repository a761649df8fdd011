import type { Route } from '../http/route.ts'
import { sendAnswer, sendText } from '../http/send-answer.ts'

interface Explanation<Uid> {
  readonly uid: Uid
  readonly namespace: string
  readonly name: string
  readonly steps?: unknown
  readonly probes?: unknown
}

interface WhyRouteDeps<Uid> {
  readonly explain: () => readonly Explanation<Uid>[]
  readonly refusedManifests: () => readonly object[]
  readonly unusedFields: () => readonly object[]
  /** Where the volumes of a pod are. */
  readonly placesOf: (uid: Uid) => readonly object[]
}

/**
 * GET /why: what each pod is at and what was done for it, and which manifests gave none or have fields that are not used; ?pod=NAME or ?pod=NAMESPACE/NAME for one pod, with where its volumes
 * are; ?steps=false without what was done and what probes answered.
 */
export function createWhyRoute<Uid>({ explain, refusedManifests, unusedFields, placesOf }: WhyRouteDeps<Uid>): Route {
  return {
    path: '/why',
    methods: ['GET'],
    async handle({ query }, response) {
      const wanted = query.get('pod')
      const pods = explain().filter(
        ({ namespace, name }) => wanted === null || [name, `${namespace}/${name}`].includes(wanted),
      )
      if (wanted !== null && pods.length === 0) return sendText(response, 404, `no pod "${wanted}" here\n`)
      const isShort = query.get('steps') === 'false'
      const shown = pods.map((pod) => ({
        ...pod,
        ...(isShort && { steps: undefined, probes: undefined }),
        ...(wanted !== null && { volumes: placesOf(pod.uid) }),
      }))
      const files = { manifests: refusedManifests(), unused: unusedFields() }
      const answer = { pods: shown, ...(wanted === null && files) }
      sendAnswer(response, { status: 200, type: 'application/json', body: `${JSON.stringify(answer)}\n` })
    },
  }
}
