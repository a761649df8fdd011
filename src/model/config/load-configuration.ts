import { FlagError, formatProblem } from './config-error.ts'
import { loadCredentialProviders, type CredentialProvider } from './credential-providers/load-credential-providers.ts'
import { applyFlags, listFlagWarnings } from './flags/apply-flags.ts'
import { listDockerFlagWarnings } from './flags/docker-flags.ts'
import { listFlagRows } from './flags/flag-rows.ts'
import { formatHelp } from './flags/help-text.ts'
import { FLAG_FIELDS, type KubeletFlags } from './flags/kubelet-flags.ts'
import { locateFlag } from './flags/locate-flag.ts'
import { parseCommandLine, type GivenFlag } from './flags/parse-command-line.ts'
import { formatVersion, reportedVersion } from './flags/version-flag.ts'
import type { ConfigFiles } from './files/config-files.ts'
import { loadConfigFiles } from './files/load-config-files.ts'
import { locateField } from './files/locate-field.ts'
import { resolveFeatureGates, type FeatureGates } from './gates/feature-gates.ts'
import { object } from './kinds/collection-kinds.ts'
import { CONFIGURATION, type GivenConfiguration, type KubeletConfiguration } from './kubelet-configuration.ts'
import { parseNodeIps, parseNodeName } from './node-identity.ts'
import { listNotYetHonoured } from './not-yet-honoured.ts'
import { checkConfiguration } from './rules/check-configuration.ts'
import { replaceSenseless } from './rules/replace-senseless.ts'
import { toServingAccess, toReservations, type Reservations, type ServingAccess } from './to-effective-settings.ts'
import { toEffectiveConfiguration, type Machine } from './to-effective-configuration.ts'

/** What the command line asks for. */
export type CommandLine =
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'version'; readonly text: string }
  | { readonly kind: 'run'; readonly settings: Settings }

/** All settings of a run, checked against each other and frozen. */
export interface Settings {
  readonly flags: KubeletFlags
  readonly config: KubeletConfiguration
  readonly gates: FeatureGates
  readonly nodeName: string
  /** The addresses of --node-ip that are addresses. */
  readonly nodeIps: readonly string[]
  /** No --kubeconfig: there is no API server. */
  readonly withoutApi: boolean
  /** The version that the node reports. */
  readonly version: string
  readonly access: ServingAccess
  readonly reserved: Reservations
  /** The cgroup above those of pods; "/" unless set otherwise. */
  readonly cgroupRoot: string
  /** The socket for images, which is that of the runtime unless set otherwise. */
  readonly imageServiceEndpoint: string
  /** The plugins that know credentials for registries. */
  readonly credentialProviders: readonly CredentialProvider[]
  /** Of the files that name these; undefined when there are none. */
  readonly credentialProvidersHash: string | undefined
  /** Fields that were set and that nothing follows from so far. */
  readonly notYetHonoured: readonly string[]
  /** To be logged by the caller, one line each. */
  readonly warnings: readonly string[]
}

const WITHOUT_EFFECT = ['iptablesMasqueradeBit', 'iptablesDropBit'] as const

function listConfigWarnings(given: GivenConfiguration, config: KubeletConfiguration): readonly string[] {
  return [
    ...WITHOUT_EFFECT.filter((name) => given[name] !== CONFIGURATION.unset[name]).map(
      (name) => `${name} has no effect`,
    ),
    ...given.clusterDNS
      .filter((address) => !config.clusterDNS.includes(address))
      .map((address) => `clusterDNS has ${JSON.stringify(address)}, which is not an IP address: left out`),
  ]
}

function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const part of Object.values(value)) freeze(part)
  return Object.freeze(value)
}

function readFlags(argv: readonly string[]) {
  const { given, problems } = parseCommandLine(argv, listFlagRows())
  const all = [...problems]
  // The values are checked as well, so that one run shows every mistake.
  const tryFlags = <T extends object>(values: T, target: 'flags' | 'configuration' | 'nowhere'): T => {
    try {
      return applyFlags(values, given, target)
    } catch (error) {
      if (!(error instanceof FlagError)) throw error
      all.push(...error.problems)
      return values
    }
  }
  const values = tryFlags(object(FLAG_FIELDS, { about: '' }).unset, 'flags')
  tryFlags(CONFIGURATION.unset, 'configuration')
  tryFlags({}, 'nowhere')
  if (all.length > 0) throw new FlagError(all)
  return { values, given }
}

async function loadSettings(
  flags: KubeletFlags & { readonly version: string },
  given: readonly GivenFlag[],
  { files, machine }: { readonly files: ConfigFiles; readonly machine: Machine },
): Promise<Settings> {
  const { version, ...ownFlags } = flags
  const withoutApi = flags.kubeconfig === ''
  const loaded = await loadConfigFiles(flags, files)
  const withFlags = applyFlags(loaded.config, given, 'configuration')
  const { gates, problems, warnings } = resolveFeatureGates(withFlags.featureGates)
  const sensible = replaceSenseless(withFlags)
  const config = toEffectiveConfiguration(sensible.config, flags, { gates, machine })
  const name = parseNodeName(flags.hostnameOverride, machine.hostname, { hasApi: !withoutApi })
  const addresses = parseNodeIps(flags.nodeIp)
  const credentials = await loadCredentialProviders(flags, files, gates)
  const context = { config, given: withFlags, flags: ownFlags, gates, machine }
  const locate = (path: string) => locateFlag(given, path) ?? locateField(loaded.sources, path)
  const found = [...problems, ...name.problems, ...addresses.problems]
  checkConfiguration(context, { problems: found, placed: loaded.problems }, locate)
  return freeze({
    flags: ownFlags,
    config,
    gates,
    nodeName: name.nodeName,
    nodeIps: addresses.nodeIps,
    withoutApi,
    version: reportedVersion(version),
    access: toServingAccess(withFlags, config, flags),
    reserved: toReservations(config),
    cgroupRoot: config.cgroupRoot === '' && config.cgroupsPerQOS ? '/' : config.cgroupRoot,
    imageServiceEndpoint:
      config.imageServiceEndpoint === '' ? config.containerRuntimeEndpoint : config.imageServiceEndpoint,
    credentialProviders: credentials.providers,
    credentialProvidersHash: credentials.hash,
    notYetHonoured: listNotYetHonoured(withFlags),
    warnings: [
      ...listFlagWarnings(given),
      ...listDockerFlagWarnings(ownFlags),
      ...loaded.warnings,
      ...warnings,
      ...listConfigWarnings(withFlags, config),
      ...sensible.replaced.map((problem) => formatProblem({ ...problem, where: locate(problem.path) })),
      ...addresses.warnings,
    ],
  })
}

/** From the arguments to what to do: help, version, or a run with all its settings. Throws ConfigError or FlagError. */
export async function loadConfiguration(
  argv: readonly string[],
  deps: { readonly files: ConfigFiles; readonly machine: Machine },
): Promise<CommandLine> {
  const { values, given } = readFlags(argv)
  const { help, ...flags } = values
  if (help) return { kind: 'help', text: formatHelp() }
  const text = formatVersion(flags.version)
  if (text !== undefined) return { kind: 'version', text }
  return { kind: 'run', settings: await loadSettings(flags, given, deps) }
}
