import process from 'node:process'
import type { AgentOptions } from '../lab/lab-agent.ts'

/** Names a folder with an agent that is built together with kill switches: it starts in half of the time of the sources. */
export const BUILT_AGENTS = 'DECKHAND_BUILT_AGENTS'

/** The kill switches that are built with it, by the names of files of this folder. */
export const BUILT_SWITCHES = ['kill-switch', 'docker-kill-switch'] as const

type KillSwitch = (typeof BUILT_SWITCHES)[number] | 'volume-kill-switch'

/** An agent with a kill switch, which is loaded before it: built, or else from the sources. */
export function withKillSwitch(name: KillSwitch, { environment, ...options }: AgentOptions): AgentOptions {
  const folder = process.env[BUILT_AGENTS]
  if (folder !== undefined && name !== 'volume-kill-switch') {
    const switched = { ...environment, NODE_OPTIONS: `--import=${folder}/${name}.js` }
    return { binary: `${folder}/kubelet`, ...options, environment: switched }
  }
  const NODE_OPTIONS = `--import=${new URL(`${name}.ts`, import.meta.url).href}`
  // Switches change modules that are part of something larger once they are built, the gRPC client among them.
  return { ...options, environment: { ...environment, NODE_OPTIONS, DECKHAND_RUN: 'sources' } }
}
