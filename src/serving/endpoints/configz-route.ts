import type { Route } from '../http/route.ts'
import { sendAnswer } from '../http/send-answer.ts'

/** /configz: the configuration that is in force, as a KubeletConfiguration document. */
export function createConfigzRoute(document: () => unknown): Route {
  return {
    path: '/configz',
    methods: 'any',
    async handle(_, response) {
      const body = JSON.stringify({ kubeletconfig: document() })
      sendAnswer(response, { status: 200, type: 'application/json', body })
    },
  }
}
