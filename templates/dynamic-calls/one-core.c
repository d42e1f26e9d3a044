		ret = dynamic_call_slow(netif_receive_skb_one_core,
					pt_prev->func,
					INDIRECT_CALL_INET({{ callees | wrap(width=20) | replace(from="\n", to="\n\t\t\t\t\t\t\t   ") }}),
					skb, skb->dev, pt_prev, orig_dev);
