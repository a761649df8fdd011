import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** What is counted of images. */
export interface ImageMetrics {
  /** An image was asked for; undefined for what was not checked. */
  imageEnsured(request: {
    readonly policy: string
    readonly isPresent: boolean | undefined
    readonly isPulled: boolean | undefined
  }): void
  /** An image was pulled. */
  imagePulled(sizeBytes: number, seconds: number): void
  /** An unused image was removed: because it is old, or for its room. */
  imageCollected(reason: 'age' | 'space'): void
  /** Whether a pod may use an image that is there was found out: by the policy, by a record of its pull, or not at all. */
  imageChecked(result: 'credentialPolicyAllowed' | 'credentialRecordFound' | 'mustAuthenticate'): void
  /** How many records of pulls there are: of those that ended, and of those that go on. */
  pullRecords(records: { readonly pulled: number; readonly pulling: number }): void
  /** A credential plugin was run. */
  credentialProviderRun(plugin: string, seconds: number, failed: boolean): void
  /** An image volume was mounted, or could not be. */
  imageVolume(failed: boolean): void
}

const PULL_BUCKETS = [1, 5, 10, 20, 30, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600]
const [MIB, GIB] = [2 ** 20, 2 ** 30]
/** Images that are larger than the first are called so. */
const SIZES: readonly (readonly [number, string])[] = [
  [100 * GIB, 'GT100GB'],
  [60 * GIB, '60GB-100GB'],
  [40 * GIB, '40GB-60GB'],
  [30 * GIB, '30GB-40GB'],
  [20 * GIB, '20GB-30GB'],
  [10 * GIB, '10GB-20GB'],
  [5 * GIB, '5GB-10GB'],
  [GIB, '1GB-5GB'],
  [500 * MIB, '500MB-1GB'],
  [100 * MIB, '100MB-500MB'],
  [10 * MIB, '10MB-100MB'],
  [0, '0-10MB'],
]

/** Which files name the credential plugins, by their hash; nothing where there are none. */
export function addProviderMetrics(set: MetricSet, hash: string | undefined): void {
  const name = 'kubelet_credential_provider_config_info'
  const help = 'The files that name the credential plugins.'
  set.read({ name, help, labels: ['hash'] }, () => (hash === undefined ? [] : [{ labels: { hash }, value: 1 }]))
}

export function createImageMetrics(set: MetricSet): ImageMetrics {
  const counter = <T extends string>(name: string, help: string, labels: readonly T[]) =>
    set.counter<T>({ name: `kubelet_${name}`, help, labels })
  const requests = counter('image_manager_ensure_image_requests_total', 'Images that were asked for.', [
    'present_locally',
    'pull_policy',
    'pull_required',
  ])
  const collected = counter('image_garbage_collected_total', 'Images that were removed, by reason.', ['reason'])
  const checks = counter('imagemanager_image_mustpull_checks_total', 'Checks whether a pod may use an image.', [
    'result',
  ])
  const pulls = set.histogram({
    name: 'kubelet_image_pull_duration_seconds',
    help: 'How long it takes to pull an image, by its size.',
    labels: ['image_size_in_bytes'],
    buckets: PULL_BUCKETS,
  })
  return {
    ...createPluginMetrics(set),
    ...createVolumeImageMetrics(set),
    ...createRecordMetrics(set),
    imageEnsured: ({ policy, isPresent, isPulled }) =>
      requests.inc({
        pull_policy: policy.toLowerCase(),
        present_locally: String(isPresent ?? 'unknown'),
        pull_required: String(isPulled ?? 'unknown'),
      }),
    imagePulled: (bytes, seconds) => pulls.observe({ image_size_in_bytes: nameSize(bytes) }, seconds),
    imageCollected: (reason) => collected.inc({ reason }),
    imageChecked: (result) => checks.inc({ result }),
  }
}

function createPluginMetrics(set: MetricSet): Pick<ImageMetrics, 'credentialProviderRun'> {
  const labels = ['plugin_name'] as const
  const durations = set.histogram({
    name: 'kubelet_credential_provider_plugin_duration',
    help: 'How long credential plugins take, in seconds.',
    labels,
  })
  const errors = set.counter({
    name: 'kubelet_credential_provider_plugin_errors_total',
    help: 'Runs of credential plugins that failed.',
    labels,
  })
  return {
    credentialProviderRun(plugin_name, seconds, failed) {
      durations.observe({ plugin_name }, seconds)
      if (failed) errors.inc({ plugin_name })
    },
  }
}

function createRecordMetrics(set: MetricSet): Pick<ImageMetrics, 'pullRecords'> {
  const gauge = (end: string, help: string) => set.gauge({ name: `kubelet_imagemanager_ondisk_${end}`, help })
  const records = gauge('pulledrecords', 'Records of images that were pulled.')
  const intents = gauge('pullintents', 'Records of images that are being pulled.')
  return {
    pullRecords({ pulled, pulling }) {
      records.set(pulled)
      intents.set(pulling)
    },
  }
}

function createVolumeImageMetrics(set: MetricSet): Pick<ImageMetrics, 'imageVolume'> {
  const counter = (end: string, help: string) =>
    set.counter({ name: `kubelet_image_volume_${end}_total`, help, stability: 'BETA' })
  const requested = counter('requested', 'Volumes that are images, as often as they were asked for.')
  const succeeded = counter('mounted_succeed', 'Image volumes that were mounted.')
  const failures = counter('mounted_errors', 'Image volumes that could not be mounted.')
  return {
    imageVolume(failed) {
      requested.inc()
      if (failed) failures.inc()
      else succeeded.inc()
    },
  }
}

function nameSize(bytes: number): string {
  return SIZES.find(([least]) => bytes > least)?.[1] ?? 'N/A'
}
