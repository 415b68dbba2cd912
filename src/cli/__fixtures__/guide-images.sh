vllm bench serve --omni \
  --endpoint /v1/images/generations \
  --dataset-name random \
  --model ~/models/Qwen/Qwen-Image \
  --tokenizer ~/models/Qwen/Qwen-Image/tokenizer \
  --max-concurrency 1 \
  --num-warmups 2 \
  --num-prompts 10 \
  --random-input-len 64 \
  --random-output-len 1 \
  --ignore-eos \
  --percentile-metrics e2el \
  --extra-body '{
    "num_inference_steps": 20,
    "seed": 42,
    "true_cfg_scale": 4.0
  }'
