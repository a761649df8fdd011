import type { Container, PodSpec } from '../../../src/model/generated/core-v1.ts'
import { BUSYBOX_IMAGE } from '../../../src/standalone/images/node-images.ts'

const FOREVER = 'while :; do sleep 1000 & wait $!; done'

/** What containers of tests run. All say in their log, with the time in seconds, when they start and when SIGTERM comes. */
export const scripts = {
  obedient: `trap 'echo term $EPOCHREALTIME; exit 0' TERM; echo started $EPOCHREALTIME; ${FOREVER}`,
  stubborn: `trap 'echo term $EPOCHREALTIME' TERM; echo started $EPOCHREALTIME; ${FOREVER}`,
  /** Ends with this code after so many seconds. */
  exits: (code: number, seconds = 0) => `echo started $EPOCHREALTIME; sleep ${seconds}; exit ${code}`,
} as const

/** A container that runs a shell script. */
export function testContainer(name: string, script: string, fields: Partial<Container> = {}): Container {
  return { name, image: BUSYBOX_IMAGE, imagePullPolicy: 'Never', command: ['sh', '-c', script], ...fields }
}

/** A manifest; one obedient container "main" by default. */
export function testPod(name: string, spec: Partial<PodSpec> = {}, metadata: Readonly<Record<string, unknown>> = {}) {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', ...metadata },
    spec: {
      terminationGracePeriodSeconds: 5,
      enableServiceLinks: false,
      containers: [testContainer('main', scripts.obedient)],
      ...spec,
    },
  }
}
