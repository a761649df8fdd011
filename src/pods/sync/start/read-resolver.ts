import { errorMessage } from '../../../base/telemetry/error-text.ts'
import type { NodeEvents } from '../../../model/events/node-events.ts'
import { SandboxConfigError } from '../../containers/pod-config-error.ts'
import { computeNodeDnsWarnings } from '../../containers/network/compute-dns-config.ts'
import type { DnsSettings } from '../../containers/network/compute-dns-config.ts'
import { parseResolvConf } from '../../containers/network/parse-resolv-conf.ts'
import type { ResolvConf } from '../../containers/network/parse-resolv-conf.ts'

interface ResolverFiles {
  readResolvConf(path: string): Promise<string>
}

/**
 * What the node's resolver file says now: it changes with every lease and tunnel of the node, so each sandbox reads it again.
 * Throws SandboxConfigError: a pod must not start with other name servers than it was meant to have.
 */
export async function readResolver(files: ResolverFiles, path: string): Promise<ResolvConf | undefined> {
  if (path === '') return undefined
  let text: string
  try {
    text = await files.readResolvConf(path)
  } catch (error) {
    throw new SandboxConfigError(errorMessage(error), { cause: error })
  }
  try {
    return parseResolvConf(text)
  } catch (error) {
    const message = `Encountered error while parsing resolv conf file. Error: ${errorMessage(error)}`
    throw new SandboxConfigError(message, { cause: error })
  }
}

/** A fault in the resolver of all pods is a fault of the node: events say so once, at the start. */
export async function reportResolverFaults(
  files: ResolverFiles,
  settings: DnsSettings,
  events: NodeEvents,
): Promise<void> {
  let host: ResolvConf | undefined
  try {
    host = await readResolver(files, settings.resolvConf)
  } catch (error) {
    events.record({ type: 'Warning', reason: 'CheckLimitsForResolvConf', message: errorMessage(error) })
  }
  for (const warning of computeNodeDnsWarnings({ ...settings, host })) {
    events.record({ type: 'Warning', ...warning })
  }
}
