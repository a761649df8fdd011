import type { Clock } from '../../base/async/clock.ts'
import type { Settings } from '../../model/config/load-configuration.ts'
import type { Pod } from '../../model/pod/pod.ts'
import type { CriClient } from '../../protocols/cri/cri-client.ts'
import type { FileSystemSpace } from '../../system/files/file-system-space.ts'
import { isProgram } from '../../system/files/is-program.ts'
import type { StateRecords } from '../../system/files/state/create-record-folder.ts'
import type { readIfPresent } from '../../system/files/read-bounded-file.ts'
import { runProcess } from '../../system/processes/run-process.ts'
import { CredentialPlugin } from './credentials/credential-plugin.ts'
import { ImageAccess } from './credentials/image-access.ts'
import { ImageCollector } from './collection/image-collector.ts'
import type { ImageMetrics } from '../../metrics/image-metrics.ts'
import { ImageCredentials } from './credentials/image-credentials.ts'
import { ImagePuller } from './image-puller.ts'
import { createNodeCredentials } from './credentials/create-node-credentials.ts'
import type { PodAccounts } from './credentials/plugin-account.ts'
import type { FindSecret } from './credentials/pull-secrets.ts'
import { runImageGarbageCollection } from './collection/run-image-garbage-collection.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { NodeEvents } from '../../model/events/node-events.ts'
import type { PodEvents } from '../../model/events/pod-events.ts'
import type { Tracer } from '../../base/telemetry/tracer.ts'

interface ImagesDeps {
  readonly settings: Settings
  readonly calls: CriClient
  readonly events: PodEvents
  readonly nodeEvents: NodeEvents
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly workingDirectory: string
  readonly host: {
    recordFolder(path: string): StateRecords
    readSpace(path: string): Promise<FileSystemSpace>
    readIfPresent: typeof readIfPresent
  }
  readonly findSecret: FindSecret
  readonly accounts: PodAccounts
  /** The pods that are desired here. */
  readonly desiredPods: () => readonly Pod[]
  /** Images of observed containers. */
  readonly observedImages: () => readonly string[]
  readonly metrics: ImageMetrics
  readonly tracer: Tracer
  readonly clock: Clock
  readonly log: Logger
}

/** Everything about images: pulling them, and removing them again. Fails for a plugin that is not there. */
export async function createImages(deps: ImagesDeps, signal: AbortSignal) {
  const { settings, calls, events, metrics, clock, log } = deps
  const { config, gates } = settings
  await checkPlugins(settings)
  const access = createAccess(deps)
  await access.recover(async (image) => (await calls.imageStatus({ image: { image } }, signal)).image?.id)
  const garbage = createCollector(deps, access)
  const puller = new ImagePuller({
    calls,
    downloads: (s) => calls.containerdDownloads(s),
    credentials: createCredentials(deps, signal),
    access,
    events,
    byHandler: gates.enabled('RuntimeClassInImageCriApi'),
    onImage: (ref) => garbage.collector.note(ref),
    limits: {
      maxParallel: config.maxParallelImagePulls,
      perSecond: config.registryPullQPS,
      burst: config.registryBurst,
    },
    metrics,
    clock,
    log,
  })
  return {
    puller,
    collector: garbage.collector,
    runGarbageCollection: (s: AbortSignal) => runImageGarbageCollection(garbage, s),
  }
}

function createCollector(
  { settings, host, calls, desiredPods, observedImages, nodeEvents, metrics, tracer, clock, log }: ImagesDeps,
  access: ImageAccess,
) {
  const { config } = settings
  const policy = {
    highPercent: config.imageGCHighThresholdPercent,
    lowPercent: config.imageGCLowThresholdPercent,
    minimumAgeMs: config.imageMinimumGCAge,
    maximumAgeMs: config.imageMaximumGCAge,
  }
  const shared = { policy, events: nodeEvents, clock, log }
  const onRemaining = (refs: ReadonlySet<string>, passBeganAt: number) => access.prune(refs, passBeganAt)
  const collector = new ImageCollector({
    ...shared,
    calls,
    desiredPods,
    byHandler: settings.gates.enabled('RuntimeClassInImageCriApi'),
    observedImages,
    readSpace: (path) => host.readSpace(path),
    onRemaining,
    metrics,
  })
  return { ...shared, collector, tracer }
}

function createAccess({ settings, host, metrics, clock, log }: ImagesDeps): ImageAccess {
  const { config, flags } = settings
  const folder = `${flags.rootDir}/image_manager`
  return new ImageAccess({
    policy: config.imagePullCredentialsVerificationPolicy,
    allowlist: config.preloadedImagesVerificationAllowlist,
    pulled: host.recordFolder(`${folder}/pulled`),
    pulling: host.recordFolder(`${folder}/pulling`),
    metrics,
    clock,
    log,
  })
}

function createCredentials(deps: ImagesDeps, signal: AbortSignal): ImageCredentials {
  const { settings, environment, accounts, metrics, clock, log } = deps
  const plugin = { run: runProcess.bind(undefined, clock), environment, accounts, metrics, clock, log }
  return new ImageCredentials({
    findSecret: deps.findSecret,
    node: createNodeCredentials(deps),
    plugins: settings.credentialProviders.map((provider) => new CredentialPlugin(provider, plugin, signal)),
    log,
  })
}

async function checkPlugins({ credentialProviders }: Settings): Promise<void> {
  for (const { program } of credentialProviders) {
    if (!(await isProgram(program, '')))
      throw new Error(`Cannot use credential plugin "${program}": no such program, expected one that can be run`)
  }
}
