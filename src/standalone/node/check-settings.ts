import { ConfigError, FlagError, formatConfigError } from '../../model/config/config-error.ts'
import { loadConfiguration } from '../../model/config/load-configuration.ts'
import type { Machine } from '../../model/config/to-effective-configuration.ts'
import { hostConfigFiles } from '../../system/files/host-config-files.ts'
import { createAgentConfig } from './agent/agent-config.ts'
import { agentFlags } from './agent/agent-process.ts'
import { exitCodes, NodeError } from './node-error.ts'
import type { NodeLayout } from './node-layout.ts'
import type { NodeRecord } from './node-record.ts'

// What this command itself reads, and the option that sets it; without one it cannot be changed.
const OWN_FIELDS = {
  staticPodPath: '--manifests',
  containerRuntimeEndpoint: '--runtime',
  cgroupRoot: '--cgroup-root',
  port: '--port',
  healthzPort: '--healthz-port',
  address: '--address',
  healthzBindAddress: undefined,
  podLogsDir: undefined,
} as const

/** Reads the user's settings for the agent as the agent will, so that a mistake in them is reported here and not in its log; returns warnings about them. */
export async function checkSettings(
  node: { readonly layout: NodeLayout; readonly record: NodeRecord },
  machine: Machine,
): Promise<readonly string[]> {
  const { layout, record } = node
  const argv = agentFlags({ layout, ...record })
  const command = await loadConfiguration(argv, { files: hostConfigFiles, machine }).catch((error: unknown) => {
    if (!(error instanceof ConfigError) && !(error instanceof FlagError)) throw error
    throw new NodeError(formatConfigError(error), exitCodes.failed, { cause: error })
  })
  if (command.kind !== 'run') return []
  const wanted = JSON.parse(createAgentConfig(layout, record)) as Readonly<Record<string, unknown>>
  for (const [field, option] of Object.entries(OWN_FIELDS)) {
    const value = command.settings.config[field as keyof typeof OWN_FIELDS]
    if (value === wanted[field]) continue
    const instead = option === undefined ? 'which cannot be changed' : `which ${option} of "deckhand up" sets`
    throw new NodeError(
      `Cannot use the settings in "${layout.settings}": ${field} is ${JSON.stringify(value)}, expected ${JSON.stringify(wanted[field])}, ${instead}`,
      exitCodes.failed,
    )
  }
  return command.settings.warnings.filter((warning) => warning.includes(`${layout.settings}/`))
}
