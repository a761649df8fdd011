import type { ImageMetrics } from '../../src/metrics/image-metrics.ts'

/** Writes down what is counted of images. */
export function countImages(): { readonly metrics: ImageMetrics; readonly counted: string[] } {
  const counted: string[] = []
  const metrics: ImageMetrics = {
    imageEnsured: ({ policy, isPresent, isPulled }) => void counted.push(`${policy} ${isPresent} ${isPulled}`),
    imagePulled: (bytes, seconds) => void counted.push(`pulled ${bytes} ${seconds}`),
    imageCollected: (reason) => void counted.push(`collected ${reason}`),
    imageChecked: (result) => void counted.push(`checked ${result}`),
    credentialProviderRun: (plugin, seconds, failed) => void counted.push(`plugin ${plugin} ${seconds} ${failed}`),
    pullRecords: ({ pulled, pulling }) => void counted.push(`records ${pulled} ${pulling}`),
    imageVolume: (failed) => void counted.push(`volume ${failed}`),
  }
  return { metrics, counted }
}
