import process from 'node:process'
import type { AgentOptions } from '../lab/lab-agent.ts'

/** Names a folder with the agents of tests, built together with what is loaded into them: they start in half of the time of the sources. */
export const BUILT_AGENTS = 'DECKHAND_BUILT_AGENTS'

/** What is built there besides the kubelet, by the names of files of this folder. */
export const BUILT_FILES = ['kill-switch', 'docker-kill-switch', 'volume-kill-switch', 'kubelet-with-objects'] as const

type KillSwitch = Exclude<(typeof BUILT_FILES)[number], 'kubelet-with-objects'>

/** An agent with a kill switch, which is loaded before it: built, or else from the sources. */
export function withKillSwitch(name: KillSwitch, { environment, ...options }: AgentOptions): AgentOptions {
  const folder = process.env[BUILT_AGENTS]
  if (folder !== undefined) {
    const switched = { ...environment, NODE_OPTIONS: `--import=${folder}/${name}.js` }
    return { binary: `${folder}/kubelet`, ...options, environment: switched }
  }
  const NODE_OPTIONS = `--import=${new URL(`${name}.ts`, import.meta.url).href}`
  // Switches change modules that are part of something larger once they are built, the gRPC client among them.
  return { ...options, environment: { ...environment, NODE_OPTIONS, DECKHAND_RUN: 'files' } }
}

/** The kubelet that has objects from a folder in place of an API server. */
export function kubeletWithObjects(objects: string): AgentOptions {
  const through = [process.execPath]
  const folder = process.env[BUILT_AGENTS]
  if (folder !== undefined) {
    const environment = { OBJECTS: objects, NODE_COMPILE_CACHE: `${folder}/compiled` }
    return { binary: `${folder}/kubelet-with-objects.js`, through, environment }
  }
  const binary = new URL('kubelet-with-objects.ts', import.meta.url).pathname
  return { binary, through, environment: { OBJECTS: objects } }
}
