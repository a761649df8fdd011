import type { Route } from '../http/route.ts'
import { sendAnswer, sendText } from '../http/send-answer.ts'

interface Explanation {
  readonly namespace: string
  readonly name: string
  readonly steps?: unknown
}

/**
 * GET /why: what each pod is at and what was done for it, and which manifests gave none; ?pod=NAME or ?pod=NAMESPACE/NAME for one pod, ?steps=false without what
 * was done.
 */
export function createWhyRoute(
  explain: () => readonly Explanation[],
  refusedManifests: () => readonly object[],
): Route {
  return {
    path: '/why',
    methods: ['GET'],
    async handle({ query }, response) {
      const wanted = query.get('pod')
      const pods = explain().filter(
        ({ namespace, name }) => wanted === null || [name, `${namespace}/${name}`].includes(wanted),
      )
      if (wanted !== null && pods.length === 0) return sendText(response, 404, `no pod "${wanted}" here\n`)
      const shown = query.get('steps') === 'false' ? pods.map((pod) => ({ ...pod, steps: undefined })) : pods
      const answer = { pods: shown, ...(wanted === null && { manifests: refusedManifests() }) }
      sendAnswer(response, { status: 200, type: 'application/json', body: `${JSON.stringify(answer)}\n` })
    },
  }
}
