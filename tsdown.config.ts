import { defineConfig } from 'tsdown';

/**
 * Threads are entries of their own: Node 20 cannot load TypeScript in a worker, and a worker file must stand
 * beside the file that starts it.
 */
export default defineConfig({
  entry: {
    cli: 'src/cli/main.ts',
    'load-thread': 'src/drive/load-thread.ts',
    'arrival-clock-thread': 'src/drive/arrival-clock-thread.ts',
    'random-prompts-thread': 'src/workloads/random-prompts-thread.ts',
    'random-media-thread': 'src/workloads/random-media-thread.ts',
  },
  format: 'esm',
  platform: 'node',
  target: 'node20',
  outDir: 'dist',
  outExtensions: () => ({ js: '.js' }),
  // Bundled deployments are data that stands beside the chunk that reads it.
  copy: [{ from: 'src/server/model/deploy', to: 'dist' }],
  clean: true,
  dts: false,
  sourcemap: true,
});
