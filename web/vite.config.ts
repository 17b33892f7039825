import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { gzipSync } from 'node:zlib'
import vue from '@vitejs/plugin-vue'
import { defineConfig, type Plugin } from 'vite'

const BUILT = '../layers/engine/stepweave/api/ui'
const OLDEST_BROWSERS = ['chrome90', 'edge90', 'firefox88', 'safari14']

/** Every browser that we build for reads woff2; KaTeX names the same fonts in two older formats as well. */
function woff2Only(): Plugin {
  return {
    name: 'woff2-only',
    enforce: 'pre',
    transform(code, id) {
      if (!id.includes('/katex/') || !id.split('?')[0]?.endsWith('.css')) return null
      return code.replace(/,\s*url\([^)]+\.(?:woff|ttf)\)\s*format\(["'](?:woff|truetype)["']\)/g, '')
    },
  }
}

/** The server gives these out as they are: nothing is compressed while somebody waits. */
function gzipped(): Plugin {
  return {
    name: 'gzipped',
    apply: 'build',
    writeBundle({ dir }) {
      if (dir === undefined) return
      for (const file of filesOf(dir)) {
        if (/\.(?:js|css)$/.test(file)) writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }))
      }
    },
  }
}

function filesOf(directory: string): string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name)
    return statSync(path).isDirectory() ? filesOf(path) : [path]
  })
}

export default defineConfig(({ mode }) => ({
  base: '/ui/',
  plugins: [vue(), woff2Only(), ...(mode === 'panels' ? [] : [gzipped()])],
  build:
    mode === 'panels'
      ? {
          target: OLDEST_BROWSERS,
          outDir: 'dist',
          lib: { entry: 'src/panels.ts', formats: ['es'], fileName: 'panels' },
          rollupOptions: { external: ['vue'] },
        }
      : {
          target: OLDEST_BROWSERS,
          cssTarget: OLDEST_BROWSERS,
          outDir: BUILT,
          emptyOutDir: true,
          assetsInlineLimit: 0,
          modulePreload: { polyfill: false },
          manifest: 'assets/manifest.json',
          reportCompressedSize: false,
          rollupOptions: { input: relative('.', 'index.html') },
        },
  server: { proxy: { '/api': 'http://127.0.0.1:2438' } },
}))
